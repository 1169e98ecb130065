// SPDX-License-Identifier: MIT
/*
 * `cunei dump`: every event, one per line, in the order of time.
 *
 * Names and values are those that babeltrace2 prints for the same trace, but for
 * characters that are unsafe to print, of which it escapes fewer.  Parts of a line that
 * stay the same from event to event are put together once and kept.
 */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buffer.h"
#include "base/text.h"
#include "base/units.h"
#include "cmd/cmd.h"
#include "cmd/common/open_trace.h"
#include "cmd/common/options.h"
#include "report/replay/event_fields.h"
#include "text/typed_value.h"
#include "trace/directory/merge_by_time.h"
#include "trace/directory/process_choice.h"
#include "trace/directory/trace.h"
#include "wire/user_event.h"

#define FLUSH_SIZE (256u << 10)

struct values {
    struct cunei_option_list process; /* owned */
    const char *thread;
    bool json;
};

struct dump {
    bool json;
    struct cunei_buffer out;
    struct cunei_buffer second; /* the time up to the second `second_s` */
    uint64_t second_s;
    struct cunei_buffer thread; /* pid, tid and name of the thread */
    const struct cunei_trace_stream *thread_stream;
    uint64_t thread_sequence;
    const struct cunei_trace *trace; /* borrowed */
    char **
        *names; /* owned: of functions, by process and index, once they were needed */
};

static const char *const phases[] = {"enter", "leave", "resume", "yield"};

static void put(struct dump *dump, const char *text)
{
    cunei_buffer_append_text(&dump->out, text);
}

static void put_number(struct dump *dump, uint64_t number)
{
    char digits[20];
    size_t at = sizeof(digits);

    do
        digits[--at] = (char)('0' + number % 10);
    while (number /= 10);
    cunei_buffer_append(&dump->out, digits + at, sizeof(digits) - at);
}

static char *format_name(struct dump *dump, const struct cunei_function *function)
{
    struct cunei_buffer name = {0}, json = {0};

    cunei_metadata_format_name(function, &name);
    if (!dump->json || name.failed)
        return name.data;
    cunei_text_json(&json, name.data, name.size);
    cunei_buffer_fini(&name);
    return json.data;
}

static const char *function_name(struct dump *dump,
                                 const struct cunei_trace_process *process, uint32_t id)
{
    size_t index = (size_t)(process - dump->trace->processes);
    uint32_t number = id - CUNEI_FUNCTION_FIRST;

    if (!dump->names[index])
        dump->names[index] = calloc(process->function_count + 1, sizeof(char *));
    if (!dump->names[index])
        return "";
    char **name = &dump->names[index][number];
    if (!*name)
        *name = format_name(dump, cunei_trace_function(process, id));
    return *name ? *name : "";
}

static void put_time(struct dump *dump, uint64_t time_ns)
{
    char digits[9];
    uint64_t ns = time_ns % CUNEI_NS_PER_S;

    if (dump->json) {
        put(dump, "{\"time_ns\":");
        put_number(dump, time_ns);
        return;
    }
    if (dump->second.size == 0 || time_ns / CUNEI_NS_PER_S != dump->second_s) {
        time_t seconds = (time_t)(time_ns / CUNEI_NS_PER_S);
        struct tm local = {0};
        (void)localtime_r(&seconds, &local);
        cunei_buffer_clear(&dump->second);
        cunei_buffer_format(&dump->second, "[%02d:%02d:%02d.", local.tm_hour,
                            local.tm_min, local.tm_sec);
        dump->second_s = time_ns / CUNEI_NS_PER_S;
    }
    for (size_t i = sizeof(digits); i > 0; i--, ns /= 10)
        digits[i - 1] = (char)('0' + ns % 10);
    cunei_buffer_append(&dump->out, dump->second.data, dump->second.size);
    cunei_buffer_append(&dump->out, digits, sizeof(digits));
}

static void put_thread(struct dump *dump, const struct cunei_trace_event *event)
{
    const struct cunei_packet *packet = event->packet;

    if (dump->thread_stream != event->stream ||
        dump->thread_sequence != packet->sequence) {
        struct cunei_buffer *out = &dump->thread;
        cunei_buffer_clear(out);
        cunei_buffer_format(
            out, dump->json ? ",\"pid\":%u,\"tid\":%u,\"thread\":" : "] %u %u ",
            packet->vpid, packet->vtid);
        cunei_event_fields_text(
            out, packet->thread_name,
            strnlen(packet->thread_name, sizeof(packet->thread_name)), dump->json);
        cunei_buffer_append_text(out, dump->json ? ",\"event\":" : " ");
        dump->thread_stream = event->stream;
        dump->thread_sequence = packet->sequence;
    }
    cunei_buffer_append(&dump->out, dump->thread.data, dump->thread.size);
}

/* An argument's text is two: its name and its value. */
static void put_argument(struct dump *dump, const void *event)
{
    const struct cunei_argument *argument = event;
    size_t size = strnlen(argument->text, argument->length);
    size_t name = argument->name_length < size ? argument->name_length : size;
    size_t value = name && name < size ? name + 1 : name; /* behind the `=` */

    put(dump, ",\"name\":");
    cunei_text_json(&dump->out, argument->text, name);
    put(dump, ",\"value\":");
    cunei_text_json(&dump->out, argument->text + value, size - value);
}

/* So are those of a value; and a number may be one that its bits do not show. */
static void put_value(struct dump *dump, const void *event)
{
    const struct cunei_user_value *value = event;
    struct cunei_user_event_text name = cunei_user_event_name(value);

    put(dump, ",\"name\":");
    cunei_text_json(&dump->out, name.data, name.size);
    put(dump, value->kind == CUNEI_VALUE_ERROR ? ",\"error\":" : ",\"value\":");
    cunei_typed_value_format_event(value, true, &dump->out);
}

static void put_counter(struct dump *dump, const void *event)
{
    const struct cunei_counter *counter = event;
    put(dump, ",\"value\":");
    cunei_typed_value_format_number(
        counter->value, counter->kind & CUNEI_COUNTER_VALUE_DOUBLE, true, &dump->out);
    put(dump, ",\"total\":");
    cunei_typed_value_format_number(
        counter->total, counter->kind & CUNEI_COUNTER_TOTAL_DOUBLE, true, &dump->out);
}

/* JSON members besides the payload, for fields whose meaning depends on each other. */
static void (*const put_meaning[CUNEI_CLASS_COUNT])(struct dump *dump,
                                                    const void *event) = {
    [CUNEI_CLASS_ARGUMENT] = put_argument, [CUNEI_CLASS_COUNTER] = put_counter,
    [CUNEI_CLASS_MARK] = put_value,        [CUNEI_CLASS_PARAMETER] = put_value,
    [CUNEI_CLASS_TAG] = put_value,         [CUNEI_CLASS_METADATA] = put_value,
};

static void put_payload(struct dump *dump, const struct cunei_trace_event *event)
{
    uint32_t function = (uint32_t)cunei_event_function(event->words);
    uint32_t class = cunei_event_class_of(event->words[0]);

    put(dump, dump->json ? ",\"payload\":{" : ", {");
    cunei_event_fields_format(&dump->out, event->words, dump->json);
    put(dump, dump->json ? "}" : " }");
    if (dump->json && put_meaning[class])
        put_meaning[class](dump, event->words);
    if (function != 0) {
        put(dump, dump->json ? ",\"function\":" : " ");
        put(dump, function_name(dump, event->process, function));
    }
}

static void put_event(struct dump *dump, const struct cunei_trace_event *event)
{
    bool is_function = event->class >= CUNEI_FUNCTION_FIRST;

    put_time(dump, event->time_ns);
    put_thread(dump, event);
    if (is_function)
        put(dump, function_name(dump, event->process, event->class));
    else {
        put(dump, dump->json ? "\"" : "");
        put(dump, cunei_event_class(event->class)->name);
        put(dump, dump->json ? "\"" : "");
    }
    put(dump, dump->json ? ",\"phase\":\"" : ": ");
    put(dump, phases[event->phase]);
    put(dump, dump->json ? "\"" : "");
    if (!is_function)
        put_payload(dump, event);
    put(dump, dump->json ? "}\n" : "\n");
}

static bool flush(struct dump *dump)
{
    bool good = !dump->out.failed &&
                fwrite(dump->out.data, 1, dump->out.size, stdout) == dump->out.size;
    cunei_buffer_clear(&dump->out);
    return good;
}

static int print_events(struct dump *dump, struct cunei_trace_merge *merge)
{
    struct cunei_trace_event event;
    bool good = true;
    int rc = 0;

    while (good && (rc = cunei_trace_merge_next(merge, &event)) > 0) {
        put_event(dump, &event);
        if (dump->out.size >= FLUSH_SIZE)
            good = flush(dump);
    }
    if (good && dump->out.size > 0)
        good = flush(dump);
    /* main reports a failed write to stdout. */
    if (good && rc < 0)
        return cunei_cmd_fail(rc == -EBADMSG ? 0 : rc, "%s; the rest was shown",
                              merge->error.text);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

static void dump_fini(struct dump *dump)
{
    for (size_t i = 0; dump->names && i < dump->trace->process_count; i++) {
        for (uint32_t j = 0;
             dump->names[i] && j < dump->trace->processes[i].function_count; j++)
            free(dump->names[i][j]);
        free(dump->names[i]);
    }
    free(dump->names);
    cunei_buffer_fini(&dump->out);
    cunei_buffer_fini(&dump->second);
    cunei_buffer_fini(&dump->thread);
}

static int dump_trace(const struct cunei_trace *trace, const struct values *values)
{
    const struct cunei_trace_choice choice = {values->process.items,
                                              values->process.count};
    struct dump dump = {.json = values->json, .trace = trace};
    struct cunei_trace_merge merge;
    int status = EXIT_FAILURE;

    dump.names = calloc(trace->process_count, sizeof(*dump.names));
    int rc = dump.names ? cunei_trace_merge_open(&merge, trace, &choice, values->thread)
                        : -ENOMEM;
    if (rc < 0)
        status = cunei_cmd_fail(rc, "cannot read '%s'", trace->path);
    else {
        status = print_events(&dump, &merge);
        if (status == EXIT_SUCCESS && !merge.is_found && values->thread)
            status = cunei_cmd_fail_to_find_thread(trace->path, values->thread);
        cunei_trace_merge_close(&merge);
    }
    dump_fini(&dump);
    return status;
}

static int open_and_dump(const char *path, const struct values *values)
{
    const struct cunei_trace_choice choice = {values->process.items,
                                              values->process.count};
    struct cunei_trace trace;

    int status = cunei_cmd_open_trace(path, &trace);
    if (status != 0)
        return status;
    status = cunei_cmd_check_choice(&trace, path, &choice);
    if (status == 0)
        status = dump_trace(&trace, values);
    cunei_trace_close(&trace);
    return status;
}

static int run_dump(int argc, char **argv)
{
    struct values values = {0};

    int status = cunei_options_parse(&cunei_cmd_dump, &argc, argv, &values);
    if (status == CUNEI_OPTIONS_CONTINUE)
        status = cunei_options_directory(&cunei_cmd_dump, argc, argv);
    if (status == CUNEI_OPTIONS_CONTINUE)
        status = open_and_dump(argv[1], &values);
    cunei_option_list_fini(&values.process);
    return status;
}

static const struct cunei_option options[] = {
    {.kind = CUNEI_OPTION_TABLE,
     .table = cunei_options_process,
     .offset = offsetof(struct values, process)},
    {.name = "thread",
     .kind = CUNEI_OPTION_TEXT,
     .value = "ID|NAME",
     .help = "only this thread, or threads whose names match a\nglob",
     .offset = offsetof(struct values, thread)},
    {.name = "json",
     .kind = CUNEI_OPTION_FLAG,
     .help = "print one JSON object per line",
     .offset = offsetof(struct values, json)},
    {0},
};

const struct cunei_cmd cunei_cmd_dump = {
    .name = "dump",
    .args = "[options] DIR",
    .summary = "print every event, one per line",
    .help =
        "Prints each event of all processes and threads, in the order of time: its time,\n"
        "process, thread, name and phase, and its other fields. The same as 'babeltrace2\n"
        "DIR', shorter and much faster.\n"
        "\n"
        "  cunei dump DIR | grep 'json.decoder:' | head\n"
        "  cunei dump --json --thread 4711 DIR",
    .options = options,
    .run = run_dump,
};
