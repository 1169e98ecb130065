// SPDX-License-Identifier: MIT
#include "rt/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "rt/recording.h"
#include "wire/event.h"

/* How long a measured frequency must have been measured to beat a given one. */
#define BETTER_CALIBRATION_NS UINT64_C(100000000)
#define SHORT_CALIBRATION_US  2000

/* A frequency from outside that no clock has is measured anew. */
#define FREQUENCY_MIN UINT64_C(1000000)
#define FREQUENCY_MAX UINT64_C(100000000000)

/* Slots without an owner that keep their memory. */
#define IDLE_SLOTS_MAX 4

_Thread_local struct cunei_stream *cunei_stream_own;

static struct cunei_recording recording = {.lock = PTHREAD_MUTEX_INITIALIZER};
static pthread_key_t thread_end;
static int thread_end_error; /* without the key, a thread's end would go unseen */
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Close the thread's packet and let another thread have its slot; lock held. */
static void give_slot_back(struct cunei_stream *stream)
{
    struct cunei_slot *slot = stream->slot;

    if (!slot)
        return;
    if (stream->packet)
        (void)cunei_packet_close(&recording, stream, CUNEI_CLOSE_DISCARD, true);
    slot->vtid = stream->vtid;
    slot->thread = stream->thread;
    memcpy(slot->name, stream->name, sizeof(slot->name));
    stream->slot = NULL;
    recording.live->streams[slot->number].thread = 0;
    slot->next_free = recording.free_slots;
    recording.free_slots = slot;
    /* After a burst of threads most slots stay idle: let their memory go. */
    if (++recording.free_count > IDLE_SLOTS_MAX)
        (void)madvise(slot->buffers, CUNEI_LIVE_STREAM_SIZE, MADV_DONTNEED);
}

static void unlink_stream(struct cunei_stream *stream)
{
    if (stream->previous)
        stream->previous->next = stream->next;
    else
        recording.streams = stream->next;
    if (stream->next)
        stream->next->previous = stream->previous;
}

/* A thread ends; no interpreter is near. */
static void end_thread(void *own)
{
    struct cunei_stream *stream = own;

    (void)pthread_mutex_lock(&recording.lock);
    give_slot_back(stream);
    unlink_stream(stream);
    (void)pthread_mutex_unlock(&recording.lock);
    cunei_stream_own = NULL;
    free(stream);
}

static void before_fork(void)
{
    (void)pthread_mutex_lock(&recording.lock);
    cunei_define_lock();
    cunei_folder_lock();
}

static void after_fork_in_parent(void)
{
    cunei_folder_unlock();
    cunei_define_unlock();
    (void)pthread_mutex_unlock(&recording.lock);
}

static void end_recording(void)
{
    recording.on = false;
    cunei_live_forget(&recording);
    cunei_space_close(&recording.space);
    cunei_folder_close(&recording.folder);
    cunei_process_fini(&recording.process);
    recording.definitions = (struct cunei_stream){0};
    cunei_define_reset();
}

/* What the system knows the calling thread by. */
static void identify(struct cunei_stream *stream)
{
    stream->vtid = (uint32_t)gettid();
    if (pthread_getcpuclockid(pthread_self(), &stream->cpu_clock) != 0)
        stream->cpu_clock = CLOCK_THREAD_CPUTIME_ID;
}

/* The child has one thread and no business with its parent's mapping or files. */
static void after_fork_in_child(void)
{
    after_fork_in_parent(); /* whoever forks holds the locks, on either side */
    for (struct cunei_stream *stream = recording.streams, *next; stream;
         stream = next) {
        next = stream->next;
        if (stream == cunei_stream_own) {
            stream->slot = NULL;
            stream->content_bits = CUNEI_PACKET_BITS;
            identify(stream);
            stream->next = stream->previous = NULL;
        } else
            free(stream);
    }
    recording.streams = cunei_stream_own;
    if (!recording.on)
        return;
    end_recording();
    if (recording.hooks.forked)
        recording.hooks.forked();
}

static void prepare_process(void)
{
    thread_end_error = pthread_key_create(&thread_end, end_thread);
    (void)pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    cunei_define_reset();
}

/*
 * A copy of the process that no fork handler has seen must not write, either; at the
 * latest when its packet is full, it does not any more.
 */
static bool is_recording_here(void)
{
    return recording.on && getpid() == recording.pid;
}

bool cunei_recorder_is_on(void)
{
    return recording.on;
}

static void make_uuid(uint8_t uuid[16])
{
    if (getrandom(uuid, 16, GRND_NONBLOCK) != 16) {
        /* Before the pool is ready: time and process are unique enough. */
        uint64_t words[2] = {recording.start.wall_ns ^ recording.start.tick << 20,
                             (uint64_t)recording.pid};
        memcpy(uuid, words, sizeof(words));
    }
    uuid[6] = (uint8_t)((uuid[6] & 0x0f) | 0x40);
    uuid[8] = (uint8_t)((uuid[8] & 0x3f) | 0x80);
}

static int write_description(void)
{
    struct cunei_buffer text = {0};

    cunei_process_format(&recording.process, &text);
    int rc = text.failed ? -ENOMEM
                         : cunei_folder_replace(&recording.folder, CUNEI_PROCESS_NAME,
                                                text.data, text.size);
    cunei_buffer_fini(&text);
    return rc;
}

static int write_preamble(uint64_t frequency)
{
    struct cunei_buffer text = {0};
    struct cunei_metadata *metadata = &recording.metadata;

    metadata->pid = (uint32_t)recording.pid;
    if (gethostname(metadata->host, sizeof(metadata->host)) < 0)
        metadata->host[0] = '\0';
    metadata->host[sizeof(metadata->host) - 1] = '\0';
    cunei_metadata_set_clock(metadata, frequency, recording.start.tick - recording.base,
                             recording.start.wall_ns);
    cunei_metadata_format(metadata, &text);
    int rc = text.failed ? -ENOMEM
                         : cunei_folder_replace(&recording.folder, CUNEI_METADATA_NAME,
                                                text.data, text.size);
    recording.metadata_end = (struct cunei_file_end){.length = text.size};
    cunei_buffer_fini(&text);
    return rc;
}

/* Take the texts over and fill in what the recorder knows better. */
static void adopt_description(struct cunei_process *process)
{
    recording.process = *process;
    *process = (struct cunei_process){0};
    recording.process.pid = (uint64_t)recording.pid;
    recording.process.parent = (uint64_t)getppid();
    recording.process.start_ns = recording.start.wall_ns;
}

int cunei_recorder_start(const struct cunei_recorder_options *options,
                         struct cunei_process *process)
{
    (void)pthread_once(&once, prepare_process);
    if (recording.on)
        return -EALREADY;
    if (thread_end_error != 0)
        return -thread_end_error;

    int rc = cunei_folder_open(&recording.folder, options->directory);
    if (rc < 0)
        return rc;
    uint64_t frequency = options->frequency;
    if (frequency < FREQUENCY_MIN || frequency > FREQUENCY_MAX)
        frequency = cunei_clock_calibrate(SHORT_CALIBRATION_US);
    recording.pid = getpid();
    recording.hooks = options->hooks;
    recording.thread_count = 0;
    recording.untold = 0;
    recording.start = cunei_clock_pair();
    recording.base = recording.start.tick & ~CUNEI_TIME_MASK;
    make_uuid(recording.metadata.uuid);
    cunei_space_open(&recording.space, options->directory, options->max_bytes);

    rc = cunei_live_create(&recording);
    adopt_description(process);
    if (rc == 0)
        rc = write_description();
    /* Last: a folder with metadata is a trace. */
    if (rc == 0)
        rc = write_preamble(frequency);
    if (rc < 0) {
        char *path = strdup(recording.folder.path);
        (void)cunei_folder_remove(&recording.folder, CUNEI_PROCESS_NAME);
        if (recording.live)
            cunei_live_remove(&recording);
        end_recording();
        if (path)
            (void)rmdir(path);
        free(path);
        return rc;
    }
    recording.on = true;
    return 0;
}

/* With the whole recording behind us its own length measures the clock best. */
static void correct_clock(const struct cunei_clock_pair *end)
{
    char text[CUNEI_METADATA_CLOCK_SIZE + 1];
    struct cunei_buffer preamble = {0};
    size_t offset = 0;

    uint64_t frequency = cunei_clock_frequency(&recording.start, end);
    if (end->monotonic_ns - recording.start.monotonic_ns < BETTER_CALIBRATION_NS ||
        frequency == 0 || frequency == recording.metadata.frequency)
        return;
    /* Where the clock stands does not depend on its values. */
    cunei_metadata_format(&recording.metadata, &preamble);
    cunei_metadata_set_clock(&recording.metadata, frequency,
                             recording.start.tick - recording.base,
                             recording.start.wall_ns);
    cunei_metadata_format_clock(&recording.metadata, text);
    if (!preamble.failed &&
        cunei_metadata_find_clock(preamble.data, preamble.size, &offset) == 0)
        (void)cunei_folder_patch(&recording.folder, CUNEI_METADATA_NAME, text,
                                 CUNEI_METADATA_CLOCK_SIZE, offset);
    cunei_buffer_fini(&preamble);
}

static void describe_end(const struct cunei_clock_pair *end)
{
    struct cunei_live *live = recording.live;
    struct cunei_process *process = &recording.process;

    process->ended = true;
    process->end_ns = end->wall_ns;
    process->lost = live->counters[CUNEI_LIVE_LOST];
    process->lost_no_stream = live->counters[CUNEI_LIVE_LOST_NO_STREAM];
    process->lost_no_space = live->counters[CUNEI_LIVE_LOST_NO_SPACE];
    process->lost_no_function = live->counters[CUNEI_LIVE_LOST_NO_FUNCTION];
    process->clamped = live->counters[CUNEI_LIVE_CLAMPED];
    process->write_ns = live->counters[CUNEI_LIVE_WRITE_NS];
    process->full = live->state == CUNEI_LIVE_FULL;
    process->stop_errno = live->stop_errno;
}

/* Close a stream for good; it finds no room at its next event. */
static int close_stream(struct cunei_stream *stream)
{
    int rc = 0;

    if (stream->slot && stream->packet)
        rc = cunei_packet_close(&recording, stream, CUNEI_CLOSE_KEEP, true);
    stream->slot = NULL;
    stream->packet = NULL;
    stream->content_bits = CUNEI_PACKET_BITS;
    return rc;
}

int cunei_recorder_stop(void)
{
    if (!recording.on)
        return -ENOENT;

    (void)pthread_mutex_lock(&recording.lock);
    struct cunei_clock_pair end = cunei_clock_pair();
    int failed, rc = cunei_define_flush(&recording, true);
    /* What threads without a stream lost is told in the first one. */
    if (recording.slots[0])
        cunei_packet_count_lost(&recording, recording.slots[0], recording.untold);
    for (struct cunei_stream *stream = recording.streams; stream;
         stream = stream->next) {
        failed = close_stream(stream);
        rc = rc < 0 ? rc : failed;
    }
    for (struct cunei_slot *slot = recording.free_slots; slot; slot = slot->next_free) {
        failed = cunei_packet_tell(&recording, slot);
        rc = rc < 0 ? rc : failed;
    }
    for (size_t i = 0; i < CUNEI_LIVE_STREAMS_MAX && recording.slots[i]; i++)
        cunei_packet_trim_file(&recording, recording.slots[i]);
    correct_clock(&end);
    describe_end(&end);
    failed = write_description();
    rc = rc < 0 ? rc : failed;
    if (rc == 0)
        cunei_live_remove(&recording);
    else {
        /* What could not be written stays in the live file, for readers to find. */
        atomic_store_explicit(&recording.live->state,
                              recording.process.full ? CUNEI_LIVE_ENDED_FULL
                                                     : CUNEI_LIVE_ENDED,
                              memory_order_relaxed);
        cunei_live_unpoint(&recording);
    }
    end_recording();
    (void)pthread_mutex_unlock(&recording.lock);
    return rc;
}

/* The calling thread's stream, made at its first event. */
static struct cunei_stream *own_stream(void)
{
    struct cunei_stream *stream = cunei_stream_own;

    if (stream)
        return stream;
    stream = aligned_alloc(64, (sizeof(*stream) + 63) / 64 * 64);
    if (!stream)
        return NULL;
    *stream = (struct cunei_stream){
        .content_bits = CUNEI_PACKET_BITS,
        .next = recording.streams,
    };
    identify(stream);
    if (pthread_setspecific(thread_end, stream) != 0) {
        free(stream);
        return NULL;
    }
    if (recording.streams)
        recording.streams->previous = stream;
    recording.streams = stream;
    cunei_stream_own = stream;
    return stream;
}

/* A slot that nobody has; NULL: there is none to be had.  Lock held. */
static struct cunei_slot *take_slot(uint64_t now)
{
    struct cunei_slot *slot = recording.free_slots;

    if (slot) {
        recording.free_slots = slot->next_free;
        recording.free_count--;
        return slot;
    }
    if (now < recording.no_slot_until || cunei_recording_is_full(&recording))
        return NULL;
    slot = cunei_live_add_slot(&recording, CUNEI_STREAM_EVENTS);
    /* Not with every event anew: what failed costs system calls. */
    if (!slot)
        recording.no_slot_until = now + recording.metadata.frequency / 10;
    return slot;
}

/* A stream with a slot, or NULL; lock held. */
static struct cunei_stream *own_stream_with_slot(uint64_t now)
{
    struct cunei_stream *stream = own_stream();

    if (!stream || stream->slot)
        return stream;
    stream->slot = take_slot(now);
    if (!stream->slot)
        return NULL;
    stream->packet = NULL;
    stream->thread = ++recording.thread_count;
    recording.live->streams[stream->slot->number].thread = stream->thread;
    return stream;
}

/* The first event of a thread, or of a recording in it. */
static struct cunei_stream *begin_stream(uint64_t *now)
{
    char name[CUNEI_PACKET_THREAD_NAME] = "";

    /* Before there is anything that another thread could find half made. */
    if (recording.hooks.name)
        recording.hooks.name(name);
    (void)pthread_mutex_lock(&recording.lock);
    struct cunei_stream *stream = recording.on ? own_stream_with_slot(*now) : NULL;
    (void)pthread_mutex_unlock(&recording.lock);
    if (!stream) {
        cunei_recorder_lose(CUNEI_LIVE_LOST_NO_STREAM);
        return NULL;
    }
    memcpy(stream->name, name, sizeof(stream->name));
    /* The slot's last owner may have read its clock after this thread did. */
    if (*now < stream->slot->last) {
        *now = stream->slot->last;
        cunei_recording_count(&recording, CUNEI_LIVE_CLAMPED, 1);
    }
    return stream;
}

struct cunei_stream *cunei_recorder_room(uint64_t *now, unsigned words,
                                         bool top_is_open)
{
    struct cunei_stream *stream = cunei_stream_own;

    if (!is_recording_here())
        return NULL;
    if (stream && stream->slot) {
        if (*now < stream->last) {
            *now = stream->last;
            cunei_recording_count(&recording, CUNEI_LIVE_CLAMPED, 1);
            if (cunei_stream_has_room(stream, *now, words))
                return stream;
        }
        (void)cunei_packet_close(&recording, stream, CUNEI_CLOSE_DISCARD, false);
    } else
        stream = begin_stream(now);
    if (!stream)
        return NULL;
    cunei_packet_begin(&recording, stream, *now);
    cunei_packet_put_stack(&recording, stream, *now, top_is_open);
    return stream;
}

uint32_t cunei_recorder_define(const struct cunei_function *function)
{
    if (!is_recording_here())
        return 0;
    (void)pthread_mutex_lock(&recording.lock);
    uint32_t id = cunei_define(&recording, function);
    (void)pthread_mutex_unlock(&recording.lock);
    return id;
}

void cunei_recorder_lose(enum cunei_live_counter reason)
{
    if (!is_recording_here())
        return;
    if (cunei_recording_is_full(&recording))
        reason = CUNEI_LIVE_LOST_NO_SPACE;
    cunei_recording_count(&recording, CUNEI_LIVE_LOST, 1);
    cunei_recording_count(&recording, reason, 1);
    /* The stream tells of it, too, where there is one: other readers look there. */
    if (cunei_stream_own && cunei_stream_own->slot)
        cunei_packet_count_lost(&recording, cunei_stream_own->slot, 1);
    else
        atomic_fetch_add_explicit(&recording.untold, 1, memory_order_relaxed);
}

void cunei_recorder_refuse(const char *directory, int error)
{
    char *path = NULL;

    /* The reason is in the name: a full disk may still take that. */
    if (asprintf(&path, "%s/%s%d-%d", directory, CUNEI_RECORDER_REFUSED, (int)getpid(),
                 error) < 0)
        return;
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd >= 0)
        close(fd);
    free(path);
}
