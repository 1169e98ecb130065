// SPDX-License-Identifier: MIT
/*
 * The selected part of the trace as a CTF trace, for babeltrace2, Trace Compass and
 * cunei.  With `names` every function has an event class of its own, even beyond the
 * first 20 000, which are `call` events otherwise.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "export/export.h"
#include "export/selection.h"
#include "export/task_names.h"
#include "export/writers.h"
#include "model/facts/event_count.h"
#include "model/facts/tasks.h"
#include "wire/metadata.h"
#include "wire/process.h"

/* The most words of a packet behind its head. */
#define WORDS_MAX ((CUNEI_PACKET_SIZE - sizeof(struct cunei_packet)) / sizeof(uint64_t))

struct writer {
    struct cunei_export *export;
    const struct cunei_trace_process *process;
    const struct cunei_selection *selection;
    struct cunei_buffer folder; /* of the process */
    struct cunei_cut cut;
    struct cunei_id_kinds kinds;
    struct cunei_buffer rewritten; /* the words of a packet */
    bool has_thread;               /* the stream has one, and this is the last */
    uint32_t thread;
    struct cunei_task_names_seen named;
};

static FILE *create(const struct writer *writer, const char *name)
{
    struct cunei_buffer path = {0};
    int fd = -1;

    cunei_buffer_format(&path, "%s/%s", writer->folder.data, name);
    if (!path.failed)
        fd = open(path.data, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    cunei_buffer_fini(&path);
    return fd >= 0 ? fdopen(fd, "w") : NULL;
}

static int write_text(const struct writer *writer, const char *name,
                      struct cunei_buffer *text)
{
    int rc = text->failed ? -ENOMEM : 0;
    FILE *file = rc == 0 ? create(writer, name) : NULL;

    if (rc == 0 && !file)
        rc = -errno;
    if (file && fwrite(text->data, 1, text->size, file) != text->size)
        rc = errno ? -errno : -EIO;
    if (file && fclose(file) != 0 && rc == 0)
        rc = -errno;
    cunei_buffer_fini(text);
    return rc;
}

static bool is_wanted(const struct writer *writer, uint32_t index)
{
    return !writer->selection->functions ||
           writer->selection->functions[index] == CUNEI_CUT_WANTED;
}

static int write_metadata(const struct writer *writer)
{
    const struct cunei_trace_process *process = writer->process;
    struct cunei_buffer text = {0};

    cunei_metadata_format(&process->metadata, &text);
    for (uint32_t i = 0; i < process->function_count; i++) {
        const struct cunei_function *function = &process->functions[i];
        bool has_class =
            function->id < process->class_end || writer->export->options->names;
        if (function->module && has_class && is_wanted(writer, i))
            cunei_metadata_format_function(function, &text);
    }
    return write_text(writer, CUNEI_METADATA_NAME, &text);
}

static int write_description(const struct writer *writer)
{
    struct cunei_buffer text = {0};

    cunei_process_format(&writer->process->description, &text);
    return write_text(writer, CUNEI_PROCESS_NAME, &text);
}

/* With `names`, a `call` event becomes one of its function's class. */
static void put_call(struct writer *writer, const uint64_t *event, size_t size)
{
    struct cunei_buffer *out = &writer->rewritten;

    if (cunei_record_class(event[0]) != CUNEI_CLASS_CALL ||
        !writer->export->options->names) {
        cunei_buffer_append(out, event, size * sizeof(*event));
        return;
    }
    uint64_t record = cunei_record(event[0], (uint32_t)event[1],
                                   (uint32_t)cunei_record_phase(event[0]));
    cunei_buffer_append(out, &record, sizeof(record));
}

static bool is_unwanted_definition(const struct writer *writer, const uint64_t *event)
{
    const struct cunei_define *define = (const void *)event;

    return cunei_record_class(event[0]) == CUNEI_CLASS_DEFINE &&
           !is_wanted(writer, define->function - CUNEI_FUNCTION_FIRST);
}

/* If a task was named before the selection, its first step gets the name, provided that
 * `room` more words fit into the packet. */
static int put_task(struct writer *writer, const struct cunei_task *task, size_t room)
{
    struct cunei_buffer *out = &writer->rewritten;
    struct cunei_task named = *task;
    const char *name = NULL;
    int rc = 0;

    if (task->length == 0 && room >= CUNEI_TASK_NAME_MAX / sizeof(uint64_t) + 1)
        rc = cunei_task_names_find_once(writer->export, writer->process, task->task,
                                        &writer->named, &name);
    size_t size = name ? strlen(name) : 0;
    if (!name) {
        cunei_buffer_append(out, task, sizeof(*task) + task->length);
        return rc;
    }
    named.length = (uint32_t)((size + sizeof(uint64_t) - 1) & ~(sizeof(uint64_t) - 1));
    cunei_buffer_append(out, &named, sizeof(named));
    cunei_buffer_append(out, name, size);
    cunei_buffer_append(out, "\0\0\0\0\0\0\0", named.length - size);
    return 0;
}

/* Give calls the classes of their functions and tasks their names, or remove
 * definitions that are not selected. */
static int rewrite(struct writer *writer, struct cunei_trace_packet *packet)
{
    struct cunei_buffer *out = &writer->rewritten;
    size_t size = 0;
    int rc = 0;

    cunei_buffer_clear(out);
    for (size_t at = 0; rc == 0 && at < packet->word_count; at += size) {
        const uint64_t *event = packet->words + at;
        size = cunei_event_words(event, packet->word_count - at);
        if (size == 0)
            break;
        size_t words = out->size / sizeof(uint64_t) + packet->word_count - at;
        if (cunei_record_class(event[0]) == CUNEI_CLASS_TASK)
            rc = put_task(writer, (const void *)event,
                          words < WORDS_MAX ? WORDS_MAX - words : 0);
        else if (!is_unwanted_definition(writer, event))
            put_call(writer, event, size);
    }
    packet->words = (const void *)out->data;
    packet->word_count = out->size / sizeof(uint64_t);
    return rc == 0 && out->failed ? -ENOMEM : rc;
}

/* `sequence` does not count packets that became empty. */
static int write_packet(const struct cunei_trace_packet *packet, uint64_t sequence,
                        FILE *file)
{
    size_t size = packet->word_count * sizeof(*packet->words);
    uint64_t bits = (sizeof(struct cunei_packet) + size) * 8;
    struct cunei_packet head;

    memcpy(&head, packet->head, sizeof(head));
    atomic_store_explicit(&head.content_bits, bits, memory_order_relaxed);
    head.packet_bits = bits;
    head.sequence = sequence;
    if (fwrite(&head, 1, sizeof(head), file) != sizeof(head) ||
        fwrite(packet->words, 1, size, file) != size)
        return errno ? -errno : -EIO;
    return 0;
}

static void take_stock(struct writer *writer, const struct cunei_trace_packet *packet)
{
    const struct cunei_packet *head = packet->head;
    struct cunei_event_count count = {0};

    if (head->stream_class == CUNEI_STREAM_EVENTS &&
        (!writer->has_thread || writer->thread != head->thread)) {
        writer->export->threads++;
        writer->has_thread = true;
        writer->thread = head->thread;
    }
    cunei_event_count_words(&count, &writer->kinds, packet->words, packet->word_count);
    writer->export->calls += count.calls;
}

/*
 * A range of time may end without an event, and then ends with a stack event.  In a
 * file, that is allowed only at the beginning of a packet.  Returns the words before
 * it.
 */
static size_t words_before_edge(const struct cunei_trace_packet *packet)
{
    size_t last = 0, size = 0;

    for (size_t at = 0; at < packet->word_count; at += size) {
        last = at;
        size = cunei_event_words(packet->words + at, packet->word_count - at);
        if (size == 0)
            break;
    }
    return last > 0 && cunei_record_class(packet->words[last]) == CUNEI_CLASS_STACK
               ? last
               : packet->word_count;
}

static int write_edge(const struct cunei_trace_packet *packet, size_t words,
                      uint64_t sequence, FILE *file)
{
    struct cunei_trace_packet edge = *packet;
    struct cunei_packet head;

    memcpy(&head, packet->head, sizeof(head));
    head.timestamp_begin = head.timestamp_end;
    edge.head = &head;
    edge.words += words;
    edge.word_count -= words;
    return write_packet(&edge, sequence, file);
}

/* One packet, or two. */
static int write_cut(struct writer *writer, struct cunei_trace_packet *packet,
                     uint64_t sequence, FILE *file)
{
    struct cunei_trace_packet whole = *packet;
    size_t words = writer->selection->cut.until < UINT64_MAX ? words_before_edge(packet)
                                                             : packet->word_count;

    packet->word_count = words;
    take_stock(writer, packet);
    int rc = write_packet(packet, sequence, file);
    if (rc == 0 && words < whole.word_count)
        rc = write_edge(&whole, words, sequence + 1, file);
    return rc;
}

/* Packets that became empty are not written; gaps of missing packets stay. */
static int write_packets(struct writer *writer, const struct cunei_trace_stream *stream,
                         struct cunei_trace_reader *reader, FILE *file)
{
    const struct cunei_export_options *options = writer->export->options;
    bool is_rewritten = stream->stream_class == CUNEI_STREAM_EVENTS
                            ? options->names || options->from_ns > 0
                            : writer->selection->functions != NULL;
    struct cunei_trace_packet packet;
    uint64_t emptied = 0;
    int rc = 0;

    while ((rc = cunei_trace_reader_next(reader, &packet)) > 0) {
        cunei_selection_progress(writer->export, packet.head->packet_bits / 8);
        if (stream->stream_class == CUNEI_STREAM_EVENTS)
            rc = cunei_selection_apply(writer->selection, &writer->cut, &packet);
        if (rc >= 0 && is_rewritten)
            rc = rewrite(writer, &packet);
        emptied += packet.word_count == 0;
        if (rc >= 0 && packet.word_count > 0)
            rc = write_cut(writer, &packet, packet.head->sequence - emptied, file);
        if (rc < 0)
            return rc;
    }
    if (rc < 0 && rc != -ENOMEM) {
        if (writer->export->damage_count++ == 0)
            writer->export->damage = *cunei_trace_reader_error(reader);
        rc = 0;
    }
    return rc;
}

static int write_stream(struct writer *writer, const struct cunei_trace_stream *stream)
{
    const char *name = strrchr(stream->path, '/');

    if (writer->export->options->names &&
        stream->stream_class == CUNEI_STREAM_DEFINITIONS)
        return 0;
    writer->has_thread = false;
    FILE *file = create(writer, name ? name + 1 : stream->path);
    if (!file)
        return -errno;
    struct cunei_trace_reader *reader =
        cunei_trace_reader_open(writer->process, stream, 0, UINT64_MAX);
    int rc = reader ? write_packets(writer, stream, reader, file) : -ENOMEM;
    cunei_trace_reader_close(reader);
    if (fclose(file) != 0 && rc == 0)
        rc = -errno;
    return rc;
}

/* As if it had never been recorded. */
static int remove_process(struct writer *writer)
{
    size_t size = writer->folder.size;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < writer->process->stream_count + 2; i++) {
        const char *path = i < 2 ? NULL : writer->process->streams[i - 2].path;
        const char *slash = path ? strrchr(path, '/') : NULL;
        const char *name = i == 0   ? CUNEI_METADATA_NAME
                           : i == 1 ? CUNEI_PROCESS_NAME
                           : slash  ? slash + 1
                                    : path;
        cunei_buffer_format(&writer->folder, "/%s", name);
        if (writer->folder.failed)
            return -ENOMEM;
        if (unlink(writer->folder.data) != 0 && errno != ENOENT)
            rc = -errno;
        writer->folder.size = size;
        writer->folder.data[size] = '\0';
    }
    return rc == 0 && rmdir(writer->folder.data) != 0 ? -errno : rc;
}

static int write_process(struct writer *writer)
{
    uint64_t threads = writer->export->threads;
    /* Resolves `.` to a name. */
    char *real = realpath(writer->process->path, NULL);
    const char *name = real ? strrchr(real, '/') : NULL;
    int rc = 0;

    cunei_buffer_clear(&writer->folder);
    cunei_buffer_format(&writer->folder, "%s/%s", writer->export->folder,
                        name ? name + 1 : cunei_trace_folder(writer->process));
    free(real);
    if (writer->folder.failed)
        return -ENOMEM;
    if (mkdir(writer->folder.data, 0700) != 0)
        return -errno;
    rc = write_metadata(writer);
    if (rc == 0)
        rc = write_description(writer);
    for (size_t i = 0; rc == 0 && i < writer->process->stream_count; i++)
        rc = write_stream(writer, &writer->process->streams[i]);
    if (rc == 0 && !writer->selection->is_whole && writer->export->threads == threads)
        rc = remove_process(writer);
    return rc;
}

int cunei_export_ctf(struct cunei_export *export)
{
    struct writer writer = {.export = export};
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < export->trace->process_count; i++) {
        writer.process = &export->trace->processes[i];
        writer.kinds = cunei_trace_kinds(writer.process);
        writer.selection = &export->selections[i];
        if (writer.selection->is_wanted)
            rc = write_process(&writer);
    }
    cunei_buffer_fini(&writer.folder);
    cunei_buffer_fini(&writer.rewritten);
    cunei_cut_fini(&writer.cut);
    free(writer.named.items);
    return rc;
}
