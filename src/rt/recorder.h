// SPDX-License-Identifier: MIT
/*
 * The recording of this process: at most one at a time, for all its threads.
 *
 * Knows nothing of Python.  Who feeds it (the probe, the native API) starts it, defines
 * functions, and writes events through rt/stream.h.  Start, stop and the hot path are
 * kept apart by the caller: under CPython's GIL, or with the world stopped.
 */
#ifndef CUNEI_RT_RECORDER_H
#define CUNEI_RT_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rt/hooks.h"
#include "rt/stream.h"
#include "wire/live.h"
#include "wire/metadata.h"
#include "wire/process.h"

struct cunei_recorder_options {
    const char *directory; /* of the trace; the process's folder is made in it */
    bool make_directory;   /* which is made, too, if only its last part is missing */
    uint64_t frequency;    /* ticks per second; 0: measure */
    uint64_t max_bytes;    /* of the whole trace; 0: no limit */
    bool has_lines;        /* lines may be told */
    struct cunei_recorder_hooks hooks;
};

/*
 * Start recording.  Takes the texts and lists out of `process`, whose numbers it fills
 * in; with `forked`, also whose child this is.  -EALREADY: a recording is on; other
 * errors: nothing was started.
 */
int cunei_recorder_start(const struct cunei_recorder_options *options,
                         struct cunei_process *process);

/* End it: write what is open, and what there is to say.  -ENOENT: none was on. */
int cunei_recorder_stop(void);

/* The same for a process that leaves now by _exit(2), of which nobody else hears. */
int cunei_recorder_stop_at_exit(int status);

/*
 * What this process is called, and which program it is about to become: the description
 * is put in place anew.  Without a recording nothing happens.
 */
void cunei_recorder_set_name(const char *name);
void cunei_recorder_set_exec(const char *program);

/* "+text" or "-text": it decides from now on, too.  The first thousand are told. */
void cunei_recorder_add_pattern(const char *pattern);

/* The process is about to change its root: the trace is not found by its path then. */
void cunei_recorder_hold_folder(void);

/*
 * An interpreter of this process that is not recorded begins; any thread may say so.
 * Or so many are there, counted already or not.
 */
void cunei_recorder_count_interpreter(void);
void cunei_recorder_note_interpreters(uint64_t count);

/* So many threads more are not heard of any more, because of the program. */
void cunei_recorder_count_lost_threads(uint64_t count);

/* Decorated functions are not heard of, though nothing else is to be recorded: why. */
void cunei_recorder_set_unheard_reason(int reason);

bool cunei_recorder_is_on(void);

/* Of recordings so far, in this process and those it was forked from. */
uint32_t cunei_recorder_number(void);

/*
 * An event is in hand: what is learnt for it now, such as the ids of functions, holds
 * for the recording that is on now.  Until it is ended, nothing of this thread goes
 * into another.  `begin` returns what `end` takes: one may come within another.  What
 * is written outside of them goes into the recording that is on.
 */
uint32_t cunei_recorder_begin_event(void);
void cunei_recorder_end_event(uint32_t before);

/*
 * The calling thread's stream with room for `words` words at `*now`, which is moved
 * forward if the clock stepped back.  NULL: not recording, or there is no room to be
 * had, which is counted.
 */
struct cunei_stream *cunei_recorder_room(uint64_t *now, unsigned words,
                                         bool top_is_open);

/*
 * Have every thread call the hook `poked`: this one at its next event, others at the
 * first that comes some microseconds from now, those without a stream when they get
 * one.
 */
void cunei_recorder_poke(void);

/*
 * For who switches events, with all threads at rest.  Have the hook `alarmed` called
 * with the first event of any thread from a tick on; 0: do not.  Look at the streams.
 */
void cunei_recorder_set_alarm(uint64_t tick);
void cunei_recorder_visit(void (*visit)(struct cunei_stream *stream, void *context),
                          void *context);

/*
 * For the same.  Have every thread begin a new packet with its next event: what is open
 * may be something else by then, as events are not told for a while, or were not.  Or
 * with each event, up to the next call of the former: they are being switched on, and
 * nobody knows yet which of them is the first.
 */
void cunei_recorder_renew(void);
void cunei_recorder_keep_renewing(void);

/* Ticks per second, and how long writing took so far, of the recording that is on. */
uint64_t cunei_recorder_frequency(void);
uint64_t cunei_recorder_write_ns(void);

/*
 * The id of a function: a new one, with its definition written, or that of the function
 * with the same identity.  0: it cannot be had.  `function->id` is not looked at.
 */
uint32_t cunei_recorder_define(const struct cunei_function *function);

/* The same, but 0 for a function that has no id yet. */
uint32_t cunei_recorder_find(const struct cunei_function *function);

/* Count an event of the calling thread that was not recorded. */
void cunei_recorder_lose(enum cunei_live_counter reason);

#endif
