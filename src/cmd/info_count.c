// SPDX-License-Identifier: MIT
#include "cmd/info_count.h"

#include <errno.h>

#include "base/units.h"
#include "trace/process/file.h"

#define ENTER  (1u << CUNEI_PHASE_ENTER)
#define LEAVE  (1u << CUNEI_PHASE_LEAVE)
#define RESUME (1u << CUNEI_PHASE_RESUME)
#define ANY    ((1u << CUNEI_PHASES) - 1)

const struct cunei_info_kind cunei_info_kinds[CUNEI_INFO_KINDS] = {
    {CUNEI_CLASS_EXCEPTION, ENTER, "exceptions", "exception", false},
    {CUNEI_CLASS_GC, LEAVE, "collections", "gc pause", false},
    {CUNEI_CLASS_TASK, ANY & ~LEAVE, "steps", "task step", false},
    {CUNEI_CLASS_SWITCH, ANY, "switches", "greenlet change", false},
    {CUNEI_CLASS_ARGUMENT, ANY, "values", "recorded value", false},
    {CUNEI_CLASS_LINE, ANY & ~RESUME, "lines", "line", false},
    {0, ANY, "regions", "region", false},
    {CUNEI_CLASS_PARAMETER, ANY, "parameters", "parameter", false},
    {CUNEI_CLASS_COUNTER, ANY, "counters", "counter value", false},
    {CUNEI_CLASS_MARK, ANY, "marks", "mark", false},
    {CUNEI_CLASS_TOKEN, RESUME, "tokens", "token tick", false},
    {CUNEI_CLASS_DEMOTE, ENTER, "demotions", "sampling decision", true},
    {CUNEI_CLASS_DEMOTE, RESUME, "bursts", "sample", true},
};

uint64_t cunei_info_count_of(const struct cunei_info_count *inventory, size_t kind)
{
    const struct cunei_info_kind *row = &cunei_info_kinds[kind];

    return row->class ? cunei_event_count_of(&inventory->count, row->class, row->phases)
                      : inventory->count.regions;
}

static void take_packet(struct cunei_info_count *inventory,
                        const struct cunei_id_kinds *kinds,
                        const struct cunei_trace_packet *packet)
{
    const struct cunei_packet *head = packet->head;

    if (inventory->packets == 0 || head->timestamp_begin < inventory->begin)
        inventory->begin = head->timestamp_begin;
    if (head->timestamp_end > inventory->end)
        inventory->end = head->timestamp_end;
    inventory->packets++;
    inventory->events += packet->event_count;
    cunei_event_count_words(&inventory->count, kinds, packet->words,
                            packet->word_count);
    inventory->bytes += head->packet_bits / 8;
}

/* A stream goes from thread to thread, and no thread has two streams: so changes of the
 * thread are counted. */
static void take_stream(struct cunei_info_count *inventory,
                        const struct cunei_trace_process *process,
                        const struct cunei_trace_stream *stream)
{
    const struct cunei_id_kinds kinds = cunei_trace_kinds(process);
    struct cunei_trace_reader *reader =
        cunei_trace_reader_open(process, stream, 0, UINT64_MAX);
    struct cunei_trace_packet packet;
    uint64_t before = inventory->packets;
    uint32_t thread = 0;
    int rc = -ENOMEM;

    while (reader && (rc = cunei_trace_reader_next(reader, &packet)) > 0) {
        take_packet(inventory, &kinds, &packet);
        inventory->threads += stream->stream_class == CUNEI_STREAM_EVENTS &&
                              packet.head->thread != thread;
        thread = packet.head->thread;
    }
    if (rc < 0 && inventory->rc == 0) {
        inventory->rc = rc;
        if (reader)
            inventory->error = *cunei_trace_reader_error(reader);
    }
    inventory->streams += inventory->packets > before;
    cunei_trace_reader_close(reader);
}

void cunei_info_count_take(struct cunei_info_count *inventory,
                           const struct cunei_trace_process *process)
{
    *inventory = (struct cunei_info_count){
        .bytes = cunei_trace_file_size(process, CUNEI_METADATA_NAME)};
    for (size_t i = 0; i < process->stream_count; i++)
        take_stream(inventory, process, &process->streams[i]);
    for (uint32_t i = 0; i < process->function_count; i++)
        inventory->functions += process->functions[i].module != NULL;
}

uint64_t cunei_info_count_start_ns(const struct cunei_info_count *inventory,
                                   const struct cunei_trace_process *process)
{
    return process->description.start_ns
               ? process->description.start_ns
               : cunei_metadata_wall_ns(&process->metadata, inventory->begin);
}

uint64_t cunei_info_count_duration_ns(const struct cunei_info_count *inventory,
                                      const struct cunei_trace_process *process)
{
    return cunei_ticks_ns(inventory->end - inventory->begin,
                          process->metadata.frequency);
}
