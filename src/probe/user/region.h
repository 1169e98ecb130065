// SPDX-License-Identifier: MIT
/*
 * Open regions: each thread has a list of its own, in the order in which they were
 * begun.  A region belongs to the frame that began it or, if that has ended, to the
 * frame's caller.
 *
 * A region that begins in the frame of a generator or coroutine is suspended with it,
 * and then belongs to no thread: another one may resume the frame.  Frames are only
 * compared.  A tool's region belongs to the tool alone: only the tool suspends and ends
 * it.
 *
 * Regions that begin while there is no recording are only counted.  All functions but
 * the reset need the GIL, or a thread state where there is none.
 */
#ifndef CUNEI_PROBE_USER_REGION_H
#define CUNEI_PROBE_USER_REGION_H

#include <Python.h>

#include <stdbool.h>
#include <stdint.h>

#include "probe/user/region_form.h"
#include "wire/event.h"

struct cunei_user_name;

/* Begin a region, or with the phase `resume` resume a suspended one. */
void cunei_region_begin(struct cunei_user_name *user_name, enum cunei_region_form form,
                        enum cunei_phase phase);

/*
 * End the innermost region of this name (NULL: of any); false: there is none.  With the
 * phase `yield` it is suspended.  One that was begun before this recording is not known
 * by its name.  Of regions by `with`, those of the running frame come first.
 */
bool cunei_region_end(const struct cunei_user_name *user_name,
                      enum cunei_region_form form, enum cunei_phase phase);

/* The same for regions by calls, without a recording. */
void cunei_region_begin_unrecorded(void);
void cunei_region_end_unrecorded(const struct cunei_user_name *user_name);

/* The innermost open region, borrowed, and its frame; NULL: none. */
struct cunei_user_name *cunei_region_innermost(const void **frame);

/*
 * A recording begins: forget the regions of another one.  `has_frames`: its source
 * records the frames of functions.
 */
void cunei_region_reset(bool frames_are_reported);

/*
 * Events of the running frame, whose code has CUNEI_CODE_REGIONS: it has begun, is
 * about to be suspended, has resumed, has ended.  Regions that it leaves open belong to
 * its caller from then on.
 */
void cunei_region_frame_begins(void);
void cunei_region_frame_yields(void);
void cunei_region_frame_resumes(void);
void cunei_region_frame_ends(const PyCodeObject *code);

/* Write the event of such a frame, if no region is affected; else false. */
bool cunei_region_frame_put(uint32_t id, enum cunei_phase phase);

/*
 * Another greenlet runs on this thread from now on.  The second sets it for a moment,
 * to read its stack, and returns the one before.
 */
void cunei_region_switch(const void *from, const void *to);
const void *cunei_region_set_greenlet(const void *greenlet);

#endif
