// SPDX-License-Identifier: MIT
#include "rt/recorder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rt/define.h"
#include "rt/description.h"
#include "rt/fork.h"
#include "rt/live.h"
#include "rt/packet.h"
#include "rt/process_exit.h"
#include "rt/refusal.h"
#include "rt/ring.h"
#include "rt/state.h"
#include "rt/thread.h"
#include "wire/event.h"

#define SHORT_CALIBRATION_US 2000
#define PATTERNS_MAX         1000u

/* A frequency from outside that no clock has is measured anew. */
#define FREQUENCY_MIN UINT64_C(1000000)
#define FREQUENCY_MAX UINT64_C(100000000000)

static struct cunei_recorder_state recording = {.lock = PTHREAD_MUTEX_INITIALIZER,
                                                .folder = {.fd = -1}};
static int watch_error; /* without it, a thread's end would go unseen */
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* The recording that the event being written belongs to; 0: any. */
static _Thread_local uint32_t event_recording
    __attribute__((tls_model("initial-exec")));

/* Give up the files.  The description and its place stay: there may be more to add. */
static void release(struct cunei_recorder_state *ended)
{
    ended->on = false;
    cunei_live_forget(ended);
    cunei_ring_forget(ended);
    cunei_space_close(&ended->space);
    cunei_folder_rest(&ended->folder);
    ended->definitions = (struct cunei_stream){0};
    cunei_define_reset(ended);
}

static void prepare_process(void)
{
    watch_error = cunei_thread_watch_ends(&recording);
    cunei_fork_watch(&recording, release);
    cunei_process_exit_watch(&recording);
    cunei_define_reset(&recording);
}

/*
 * A copy of the process that was made without fork handlers (clone) must not write.
 * This is noticed at the latest when its packet is full.
 */
static bool is_recording_here(void)
{
    uint32_t number = event_recording;

    return recording.on && getpid() == recording.pid &&
           (number == 0 || number == recording.number);
}

bool cunei_recorder_is_on(void)
{
    return recording.on;
}

uint32_t cunei_recorder_number(void)
{
    return recording.number;
}

/* Ticks per second: from the options, of the recording before, or measured. */
static uint64_t find_frequency(const struct cunei_recorder_options *options)
{
    const uint64_t known[] = {options->frequency, recording.metadata.frequency};

    for (size_t i = 0; i < 2; i++) {
        if (known[i] >= FREQUENCY_MIN && known[i] <= FREQUENCY_MAX)
            return known[i];
    }
    return cunei_clock_calibrate(SHORT_CALIBRATION_US);
}

/* The start failed: leave nothing behind. */
static void undo_start(void)
{
    if (recording.process_end.is_made)
        (void)cunei_file_remove(&recording.folder, CUNEI_PROCESS_NAME,
                                &recording.process_end.id);
    if (recording.live)
        cunei_live_remove(&recording);
    cunei_ring_remove(&recording);
    cunei_folder_remove(&recording.folder);
    release(&recording);
    cunei_process_fini(&recording.process);
}

int cunei_recorder_start(const struct cunei_recorder_options *options,
                         struct cunei_process *process)
{
    (void)pthread_once(&once, prepare_process);
    if (recording.on)
        return -EALREADY;
    if (watch_error < 0)
        return watch_error;

    cunei_folder_close(&recording.folder); /* of the recording before */
    int rc = options->make_directory ? cunei_folder_make_parent(options->directory) : 0;
    if (rc == 0)
        rc = cunei_folder_open(&recording.folder, options->directory,
                               &options->directory_id);
    if (rc < 0)
        return rc;
    uint64_t frequency = find_frequency(options);
    recording.pid = getpid();
    recording.hooks = options->hooks;
    recording.launcher = options->launcher;
    recording.thread_count = 0;
    recording.lost_without_stream = 0;
    recording.alarm = 0;
    recording.renews = false;
    recording.process_end = (struct cunei_file_end){0};
    recording.start = cunei_clock_pair();
    recording.end = 0;
    recording.base = recording.start.tick & ~CUNEI_TIME_MASK;
    cunei_description_make_uuid(&recording);
    recording.metadata.has_lines = options->has_lines;
    cunei_space_open(&recording.space, &recording.folder, options->max_bytes);

    /* The live files of a thousand children take 768 MB. */
    rc = process->forked ? cunei_space_take(&recording.space, &recording.folder, 0) : 0;
    if (rc != -ENOSPC)
        rc = cunei_live_create(&recording);
    if (rc == 0 && options->keep.size)
        rc = cunei_ring_create(&recording, &options->keep);
    recording.lost_threads = recording.decorated_refusal = 0;
    cunei_description_adopt(&recording, process);
    if (rc == 0)
        rc = cunei_description_write(&recording);
    /* Last: a folder with metadata is a trace. */
    if (rc == 0)
        rc = cunei_description_write_preamble(&recording, frequency);
    if (rc < 0)
        undo_start();
    else
        recording.number++;
    recording.on = rc == 0;
    return rc;
}

/* If the folder did not stay at its place, the launcher cannot find what it holds. */
static void report_loss(void)
{
    if (cunei_folder_is_away(&recording.folder) && !recording.process.started_inside)
        cunei_refusal_report_loss(&recording.folder, &recording.launcher);
}

/* Lock held. */
static int stop(void)
{
    struct cunei_clock_pair end = cunei_clock_pair();
    recording.end = end.tick;
    int failed, rc = cunei_define_flush(&recording, true);
    failed = cunei_thread_close_all(&recording);
    rc = rc < 0 ? rc : failed;
    cunei_ring_trim(&recording);
    cunei_description_correct_clock(&recording, &end);
    cunei_description_end(&recording, &end);
    failed = cunei_description_append(&recording);
    rc = rc < 0 ? rc : failed;
    if (rc == 0)
        cunei_live_remove(&recording);
    else {
        /* Packets that could not be written stay in the live file, where readers find
         * them. */
        atomic_store_explicit(&recording.live->state,
                              recording.process.full ? CUNEI_LIVE_ENDED_FULL
                                                     : CUNEI_LIVE_ENDED,
                              memory_order_relaxed);
        cunei_live_remove_pointer(&recording);
    }
    report_loss();
    release(&recording);
    return rc;
}

int cunei_recorder_stop(void)
{
    if (!recording.on)
        return -ENOENT;
    (void)pthread_mutex_lock(&recording.lock);
    int rc = stop();
    (void)pthread_mutex_unlock(&recording.lock);
    return rc;
}

int cunei_recorder_stop_at_exit(int status)
{
    if (!is_recording_here())
        return -ENOENT;
    (void)pthread_mutex_lock(&recording.lock);
    recording.process.left = true;
    recording.process.exit_status = (uint64_t)status & 0xff;
    int rc = stop();
    (void)pthread_mutex_unlock(&recording.lock);
    return rc;
}

/* Put a text into a field of the description; false: it was there, or no memory. */
static bool replace_text(char **field, const char *text)
{
    char *copy = *field && strcmp(*field, text) == 0 ? NULL : strdup(text);

    if (!copy)
        return false;
    free(*field);
    *field = copy;
    return true;
}

void cunei_recorder_set_name(const char *name)
{
    if (!is_recording_here())
        return;
    (void)pthread_mutex_lock(&recording.lock);
    if (replace_text(&recording.process.name, name))
        (void)cunei_description_append(&recording);
    (void)pthread_mutex_unlock(&recording.lock);
}

void cunei_recorder_add_pattern(const char *pattern)
{
    struct cunei_process *process = &recording.process;

    if (!is_recording_here())
        return;
    (void)pthread_mutex_lock(&recording.lock);
    if (process->pattern_count < PATTERNS_MAX &&
        cunei_process_add(&process->patterns, &process->pattern_count, pattern) == 0)
        (void)cunei_description_append_pattern(&recording, pattern);
    (void)pthread_mutex_unlock(&recording.lock);
}

void cunei_recorder_hold_folder(void)
{
    if (is_recording_here())
        cunei_folder_hold(&recording.folder);
}

void cunei_recorder_set_exec(const char *program)
{
    struct cunei_process *process = &recording.process;

    if (!is_recording_here())
        return;
    (void)pthread_mutex_lock(&recording.lock);
    (void)replace_text(&process->became, program);
    /* If exec fails, later events show that the process still runs. */
    process->end_ns = cunei_clock_pair().wall_ns;
    process->cpu_ns = cunei_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - process->start_cpu_ns;
    (void)cunei_description_append(&recording);
    (void)pthread_mutex_unlock(&recording.lock);
}

void cunei_recorder_count_interpreter(void)
{
    atomic_fetch_add_explicit(&recording.interpreters, 1, memory_order_relaxed);
}

void cunei_recorder_note_interpreters(uint64_t count)
{
    uint64_t known = recording.interpreters;

    while (known < count &&
           !atomic_compare_exchange_weak(&recording.interpreters, &known, count))
        continue;
}

void cunei_recorder_count_lost_threads(uint64_t count)
{
    atomic_fetch_add_explicit(&recording.lost_threads, count, memory_order_relaxed);
}

void cunei_recorder_set_decorated_refusal(int reason)
{
    atomic_store_explicit(&recording.decorated_refusal, (uint64_t)reason,
                          memory_order_relaxed);
}

uint32_t cunei_recorder_begin_event(void)
{
    uint32_t before = event_recording;

    event_recording = recording.number;
    return before;
}

void cunei_recorder_end_event(uint32_t before)
{
    event_recording = before;
}

/*
 * The functions that the calling thread has open, as of the last renewal of all
 * packets. The hook may write events: a garbage collection may start in it and run any
 * code.  If one of these events has begun a packet, it has used the same list, and we
 * ask again.
 */
static size_t find_open(struct cunei_stream *stream, bool top_is_open, size_t *omitted,
                        uint32_t *renewals)
{
    uint32_t look;
    size_t count;

    do {
        look = ++stream->looks;
        *renewals = atomic_load(&recording.renewals);
        *omitted = 0;
        count = recording.hooks.stack
                    ? recording.hooks.stack(top_is_open, stream->functions,
                                            CUNEI_RECORDER_STACK_MAX, omitted)
                    : 0;
    } while (look != stream->looks || *renewals != atomic_load(&recording.renewals));
    return count;
}

/*
 * A new packet, after the open one.  The hooks call Python first: during these calls
 * the recording may end, which closes this stream, and another one may begin.  After
 * them nothing is called at which CPython could stop the thread.
 */
static struct cunei_stream *begin_packet(uint64_t *now, bool top_is_open,
                                         uint32_t number)
{
    struct cunei_stream *stream = cunei_thread_own(&recording);
    char name[CUNEI_PACKET_THREAD_NAME] = "";
    uint32_t renewals, flags = 0;
    size_t omitted;

    /* A thread that has no slot and gets none does not run the hooks for each event. */
    if (!stream || (!stream->slot && !cunei_thread_may_begin(&recording, *now))) {
        cunei_recorder_lose(CUNEI_LIVE_LOST_NO_STREAM);
        return NULL;
    }
    if (!stream->slot && recording.hooks.name)
        recording.hooks.name(name);
    size_t count = find_open(stream, top_is_open, &omitted, &renewals);

    if (!is_recording_here() || number != recording.number)
        return NULL;
    if (stream->slot) {
        *now = *now < stream->last ? stream->last : *now;
        if (recording.renews || stream->renewals != renewals)
            flags = CUNEI_PACKET_RENEWED;
        if (recording.hooks.closing)
            recording.hooks.closing(stream);
        (void)cunei_packet_close(&recording, stream, CUNEI_CLOSE_DISCARD, false);
    } else if (cunei_thread_begin(&recording, stream, now))
        memcpy(stream->name, name, sizeof(stream->name));
    else {
        cunei_recorder_lose(CUNEI_LIVE_LOST_NO_STREAM);
        return NULL;
    }
    cunei_packet_begin(&recording, stream, *now, flags);
    cunei_packet_put_stack(stream, *now, count, omitted);
    stream->pokes = atomic_load(&recording.pokes) - 1;
    stream->renewals = renewals;
    if (recording.renews)
        atomic_store(&stream->deadline, stream->last);
    return stream;
}

/* In the packet that is open, or in a new one, if it is one of recording `number`. */
static struct cunei_stream *find_room(uint64_t *now, unsigned words, bool top_is_open,
                                      uint32_t number)
{
    struct cunei_stream *stream = cunei_stream_own;

    if (stream && stream->slot) {
        cunei_thread_undo_poke(&recording, stream);
        if (*now < stream->last) {
            *now = stream->last;
            cunei_recorder_count(&recording, CUNEI_LIVE_CLAMPED, 1);
        }
        if (stream->renewals == atomic_load(&recording.renewals) && !recording.renews &&
            cunei_stream_has_room(stream, *now, words))
            return stream;
    }
    return begin_packet(now, top_is_open, number);
}

struct cunei_stream *cunei_recorder_room(uint64_t *now, unsigned words,
                                         bool top_is_open)
{
    uint32_t number = recording.number;

    if (!is_recording_here())
        return NULL;
    if (recording.alarm && *now >= recording.alarm) {
        recording.alarm = *now + CUNEI_SOON;
        recording.hooks.alarmed();
    }
    struct cunei_stream *stream = find_room(now, words, top_is_open, number);
    uint32_t pokes = atomic_load(&recording.pokes);
    if (!stream || !recording.hooks.poked || stream->pokes == pokes)
        return stream;
    stream->pokes = pokes; /* before the hook writes events, which come here as well */
    recording.hooks.poked(top_is_open);
    *now = *now < stream->last ? stream->last : *now;
    return cunei_stream_has_room(stream, *now, words)
               ? stream
               : find_room(now, words, top_is_open, number);
}

void cunei_recorder_poke(void)
{
    (void)pthread_mutex_lock(&recording.lock);
    cunei_thread_poke_all(&recording);
    (void)pthread_mutex_unlock(&recording.lock);
}

void cunei_recorder_set_alarm(uint64_t tick)
{
    cunei_thread_alarm_all(&recording, tick);
}

void cunei_recorder_visit(void (*visit)(struct cunei_stream *stream, void *context),
                          void *context)
{
    (void)pthread_mutex_lock(&recording.lock);
    for (struct cunei_stream *stream = recording.streams; stream;
         stream = stream->next) {
        if (stream->slot && stream->packet)
            visit(stream, context);
    }
    (void)pthread_mutex_unlock(&recording.lock);
}

uint64_t cunei_recorder_frequency(void)
{
    return recording.metadata.frequency;
}

uint64_t cunei_recorder_write_ns(void)
{
    return is_recording_here() ? recording.live->counters[CUNEI_LIVE_WRITE_NS] : 0;
}

void cunei_recorder_renew(void)
{
    cunei_thread_renew_all(&recording, false);
}

void cunei_recorder_keep_renewing(void)
{
    cunei_thread_renew_all(&recording, true);
}

static uint32_t define(const struct cunei_function *function, bool only_known)
{
    if (!is_recording_here())
        return 0;
    (void)pthread_mutex_lock(&recording.lock);
    uint32_t id = cunei_define(&recording, function, only_known);
    (void)pthread_mutex_unlock(&recording.lock);
    return id;
}

uint32_t cunei_recorder_define(const struct cunei_function *function)
{
    return define(function, false);
}

uint32_t cunei_recorder_find(const struct cunei_function *function)
{
    return define(function, true);
}

void cunei_recorder_lose(enum cunei_live_counter reason)
{
    if (!is_recording_here())
        return;
    if (cunei_recorder_is_full(&recording))
        reason = CUNEI_LIVE_LOST_NO_SPACE;
    cunei_recorder_count(&recording, CUNEI_LIVE_LOST, 1);
    cunei_recorder_count(&recording, reason, 1);
    /* Other CTF readers look for the count in the stream. */
    if (cunei_stream_own && cunei_stream_own->slot)
        cunei_packet_count_lost(&recording, cunei_stream_own->slot, 1);
    else
        atomic_fetch_add_explicit(&recording.lost_without_stream, 1,
                                  memory_order_relaxed);
}
