// SPDX-License-Identifier: MIT
/*
 * The recording of this process: at most one at a time, for all its threads.
 *
 * It knows nothing of Python.  Its user (the probe) starts it, defines functions, and
 * writes events through rt/stream.h.  The user makes sure that start and stop never run
 * at the same time as the hot path: they hold the GIL, or stop the world.
 */
#ifndef CUNEI_RT_RECORDER_H
#define CUNEI_RT_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "rt/recorder_hooks.h"
#include "rt/stream.h"
#include "wire/keep.h"
#include "wire/live.h"
#include "wire/metadata.h"
#include "wire/process.h"
#include "wire/record_env.h"

struct cunei_recorder_options {
    const char *directory; /* of the trace; the process's folder is made in it */
    struct cunei_file_id directory_id; /* all 0: any directory at that path */
    bool make_directory;               /* made if only its last part is missing */
    uint64_t frequency;                /* ticks per second; 0: measure */
    uint64_t max_bytes;                /* of the whole trace; 0: no limit */
    struct cunei_keep keep;
    struct cunei_launcher launcher; /* of the recording, if it has one */
    bool has_lines;                 /* lines may be recorded */
    struct cunei_recorder_hooks hooks;
};

/*
 * Start recording.  Takes the texts and lists out of `process`, whose numbers it fills
 * in; with `forked`, also whose child this is.  -EALREADY: a recording is on; other
 * errors: nothing was started.
 */
int cunei_recorder_start(const struct cunei_recorder_options *options,
                         struct cunei_process *process);

/* End it: write the open packets and the rest of the description.  -ENOENT: none is on.
 */
int cunei_recorder_stop(void);

/* The same for a process that is about to call _exit(2), with its exit status. */
int cunei_recorder_stop_at_exit(int status);

/*
 * The name of this process, and the program that it is about to execute, for the
 * description.  Nothing happens without a recording.
 */
void cunei_recorder_set_name(const char *name);
void cunei_recorder_set_exec(const char *program);

/* Add an include ("+text") or exclude ("-text") pattern to the description, which holds
 * a thousand of them at most. */
void cunei_recorder_add_pattern(const char *pattern);

/* The process is about to call chroot: hold a descriptor of the folder, because its
 * path becomes invalid. */
void cunei_recorder_hold_folder(void);

/*
 * Count a new subinterpreter, which is not recorded; any thread may call this.  Or note
 * that there are at least `count`.
 */
void cunei_recorder_count_interpreter(void);
void cunei_recorder_note_interpreters(uint64_t count);

/* Count threads that are no longer recorded because the program removed our hook. */
void cunei_recorder_count_lost_threads(uint64_t count);

/* Why decorated functions are not recorded, in a recording of nothing else (see
 * python/refusal_reason.h). */
void cunei_recorder_set_decorated_refusal(int reason);

bool cunei_recorder_is_on(void);

/* How many recordings there were so far, in this process and those it was forked from.
 */
uint32_t cunei_recorder_number(void);

/*
 * Between these two calls, events of this thread are written only into the recording
 * that is on at the first: ids of functions that were looked up for an event hold for
 * one recording.  The calls may be nested; pass the result of `begin` to `end`.  Events
 * outside of them go into whichever recording is on.
 */
uint32_t cunei_recorder_begin_event(void);
void cunei_recorder_end_event(uint32_t before);

/*
 * The calling thread's stream with room for `words` words at `*now`, which is moved
 * forward if the clock stepped back.  NULL: nothing is recorded, or there is no room,
 * which is counted as a lost event.
 */
struct cunei_stream *cunei_recorder_room(uint64_t *now, unsigned words,
                                         bool top_is_open);

/*
 * Make every thread call the hook `poked`: the calling one at its next event, others at
 * their first event some microseconds from now, threads without a stream when they get
 * one.
 */
void cunei_recorder_poke(void);

/*
 * For a caller that switches events while no thread writes any.  set_alarm: call the
 * hook `alarmed` at the first event of any thread from a tick on; 0: never.  visit:
 * look at the streams.
 */
void cunei_recorder_set_alarm(uint64_t tick);
void cunei_recorder_visit(void (*visit)(struct cunei_stream *stream, void *context),
                          void *context);

/*
 * For the same.  renew: every thread begins a new packet with its next event, because
 * calls that started or ended meanwhile were not recorded.  keep_renewing: with every
 * event until the next call of renew, while events are being switched on and it is not
 * known which is the first.
 */
void cunei_recorder_renew(void);
void cunei_recorder_keep_renewing(void);

/* Ticks per second of the recording that is on, and the time spent writing so far. */
uint64_t cunei_recorder_frequency(void);
uint64_t cunei_recorder_write_ns(void);

/*
 * The id of a function: a new one, with its definition written, or that of the function
 * with the same identity.  0: there is no memory or no space.  `function->id` is not
 * looked at.
 */
uint32_t cunei_recorder_define(const struct cunei_function *function);

/* The same, but 0 for a function that has no id yet. */
uint32_t cunei_recorder_find(const struct cunei_function *function);

/* Count an event of the calling thread that was not recorded. */
void cunei_recorder_lose(enum cunei_live_counter reason);

#endif
