// SPDX-License-Identifier: MIT
/*
 * Regions that are open: each thread has a list of its own, in the order in which they
 * were begun, with the frame that each was begun in, or, when that has ended and was
 * heard of, its caller's.
 *
 * A region that was begun in the frame of a generator or coroutine is suspended with
 * it, and then belongs to no thread: another one may go on with the frame.  Frames are
 * only compared.  A tool's region is the tool's alone: it is suspended when that says
 * so, whatever generators it consists of, and no region_end of the program's means it.
 *
 * What is begun while no recording is on is only counted.  All but the reset need
 * the GIL, or a thread state where there is none.
 */
#ifndef CUNEI_PROBE_USER_REGION_H
#define CUNEI_PROBE_USER_REGION_H

#include <Python.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/user/region_form.h"
#include "wire/event.h"

struct cunei_user_name;

/* Begin it, or with the phase `resume` go on with one that was suspended. */
void cunei_region_begin(struct cunei_user_name *user_name, enum cunei_region_form form,
                        enum cunei_phase phase);

/*
 * End the innermost of this name (NULL: of any), of which there need be none: false.
 * With the phase `yield` it is suspended: its time goes on when it is resumed.
 * One that was begun before this recording was is not known by its name.
 * Of those of `with`, one that the frame that runs has begun comes first.
 */
bool cunei_region_end(const struct cunei_user_name *user_name,
                      enum cunei_region_form form, enum cunei_phase phase);

/* The same of those by calls, where nothing is recorded. */
void cunei_region_begin_unrecorded(void);
void cunei_region_end_unrecorded(const struct cunei_user_name *user_name);

/* The innermost open one, borrowed, and its frame; NULL: none. */
struct cunei_user_name *cunei_region_innermost(const void **frame);

/*
 * A recording begins: what was open belongs to another one.  `has_frames`: its source
 * reports the frames of all recorded functions.
 */
void cunei_region_reset(bool has_frames);

/*
 * The frame that runs is told of, and its code has CUNEI_CODE_REGIONS: it has begun,
 * is about to be suspended, goes on, has ended.  Regions that it leaves open belong to
 * its caller from then on, as if that had begun them.
 */
void cunei_region_frame_begins(void);
void cunei_region_frame_yields(void);
void cunei_region_frame_resumes(void);
void cunei_region_frame_ends(const PyCodeObject *code);

/* Write the event of such a frame, if that is all there is to do; else false. */
bool cunei_region_frame_put(uint32_t id, enum cunei_phase phase);

/* Another greenlet runs on this thread from now on; or, for a look at it, might. */
void cunei_region_switch(const void *from, const void *to);
const void *cunei_region_set_greenlet(const void *greenlet);

#endif
