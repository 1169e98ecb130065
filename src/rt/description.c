// SPDX-License-Identifier: MIT
/*
 * The hidden description of a process, and the preamble of the metadata with its clock.
 */
#include "rt/description.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/buffer.h"
#include "rt/ancestor.h"
#include "rt/state.h"

/* A frequency that was measured for so long replaces one that was given. */
#define BETTER_CALIBRATION_NS UINT64_C(100000000)

void cunei_description_make_uuid(struct cunei_recorder_state *recording)
{
    uint8_t *uuid = recording->metadata.uuid;

    if (getrandom(uuid, 16, GRND_NONBLOCK) != 16) {
        /* Before the pool is ready: time and process are unique enough. */
        uint64_t words[2] = {recording->start.wall_ns ^ recording->start.tick << 20,
                             (uint64_t)recording->pid};
        memcpy(uuid, words, sizeof(words));
    }
    uuid[6] = (uint8_t)((uuid[6] & 0x0f) | 0x40);
    uuid[8] = (uint8_t)((uuid[8] & 0x3f) | 0x80);
}

void cunei_description_adopt(struct cunei_recorder_state *recording,
                             struct cunei_process *process)
{
    cunei_process_fini(&recording->process);
    recording->process = *process;
    *process = (struct cunei_process){0};
    recording->process.pid = (uint64_t)recording->pid;
    recording->process.parent = (uint64_t)getppid();
    recording->process.start_ns = recording->start.wall_ns;
    recording->process.start_cpu_ns = cunei_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    if (recording->process.forked) {
        /* Not getppid: the parent may have ended. */
        recording->process.parent = (uint64_t)recording->parent;
        recording->process.parent_folder = recording->parent_folder; /* moved */
        recording->parent_folder = NULL;
    } else
        recording->process.parent_folder =
            cunei_ancestor_folder(recording->folder.path);
}

int cunei_description_write(struct cunei_recorder_state *recording)
{
    struct cunei_buffer text = {0};

    cunei_process_format(&recording->process, &text);
    int rc = text.failed
                 ? -ENOMEM
                 : cunei_file_replace(&recording->folder, CUNEI_PROCESS_NAME, text.data,
                                      text.size, &recording->process_end);
    cunei_buffer_fini(&text);
    return rc;
}

/*
 * Not by another file in its place: on a file system where many were deleted lately,
 * making one takes half a millisecond.
 */
static int append(struct cunei_recorder_state *recording, struct cunei_buffer *text)
{
    int rc = text->failed
                 ? -ENOMEM
                 : cunei_file_append(&recording->folder, CUNEI_PROCESS_NAME, text->data,
                                     text->size, &recording->process_end);
    cunei_buffer_fini(text);
    return rc;
}

int cunei_description_append(struct cunei_recorder_state *recording)
{
    struct cunei_buffer text = {0};

    cunei_process_format_change(&recording->process, &text);
    return append(recording, &text);
}

int cunei_description_append_pattern(struct cunei_recorder_state *recording,
                                     const char *pattern)
{
    struct cunei_buffer text = {0};

    cunei_process_format_pattern(pattern, &text);
    return append(recording, &text);
}

int cunei_description_append_child(struct cunei_recorder_state *recording,
                                   const struct cunei_child_end *child)
{
    struct cunei_buffer text = {0};

    cunei_process_format_child(child, &text);
    return append(recording, &text);
}

int cunei_description_write_preamble(struct cunei_recorder_state *recording,
                                     uint64_t frequency)
{
    struct cunei_buffer text = {0};
    struct cunei_metadata *metadata = &recording->metadata;

    metadata->pid = (uint32_t)recording->pid;
    if (gethostname(metadata->host, sizeof(metadata->host)) < 0)
        metadata->host[0] = '\0';
    metadata->host[sizeof(metadata->host) - 1] = '\0';
    cunei_metadata_set_clock(metadata, frequency,
                             recording->start.tick - recording->base,
                             recording->start.wall_ns);
    cunei_metadata_format(metadata, &text);
    int rc = text.failed
                 ? -ENOMEM
                 : cunei_file_replace(&recording->folder, CUNEI_METADATA_NAME,
                                      text.data, text.size, &recording->metadata_end);
    cunei_buffer_fini(&text);
    return rc;
}

void cunei_description_correct_clock(struct cunei_recorder_state *recording,
                                     const struct cunei_clock_pair *end)
{
    char text[CUNEI_METADATA_CLOCK_SIZE + 1];
    struct cunei_buffer preamble = {0};
    size_t offset = 0;

    uint64_t frequency = cunei_clock_frequency(&recording->start, end);
    if (end->monotonic_ns - recording->start.monotonic_ns < BETTER_CALIBRATION_NS ||
        frequency == 0 || frequency == recording->metadata.frequency)
        return;
    /* Where the clock stands does not depend on its values. */
    cunei_metadata_format(&recording->metadata, &preamble);
    cunei_metadata_set_clock(&recording->metadata, frequency,
                             recording->start.tick - recording->base,
                             recording->start.wall_ns);
    cunei_metadata_format_clock(&recording->metadata, text);
    if (!preamble.failed &&
        cunei_metadata_find_clock(preamble.data, preamble.size, &offset) == 0)
        (void)cunei_file_patch(&recording->folder, CUNEI_METADATA_NAME, text,
                               CUNEI_METADATA_CLOCK_SIZE, offset);
    cunei_buffer_fini(&preamble);
}

void cunei_description_end(struct cunei_recorder_state *recording,
                           const struct cunei_clock_pair *end)
{
    struct cunei_live *live = recording->live;
    struct cunei_process *process = &recording->process;

    process->ended = true;
    process->cpu_ns = cunei_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - process->start_cpu_ns;
    process->interpreters = recording->interpreters;
    process->lost_threads = recording->lost_threads;
    process->decorated_refusal = recording->decorated_refusal;
    process->end_ns = end->wall_ns;
    process->lost = live->counters[CUNEI_LIVE_LOST];
    process->lost_no_stream = live->counters[CUNEI_LIVE_LOST_NO_STREAM];
    process->lost_no_space = live->counters[CUNEI_LIVE_LOST_NO_SPACE];
    process->lost_no_function = live->counters[CUNEI_LIVE_LOST_NO_FUNCTION];
    process->clamped = live->counters[CUNEI_LIVE_CLAMPED];
    process->write_ns = live->counters[CUNEI_LIVE_WRITE_NS];
    process->write_cpu_ns = live->counters[CUNEI_LIVE_WRITE_CPU_NS];
    process->full = live->state == CUNEI_LIVE_FULL;
    process->stop_errno = live->stop_errno;
}
