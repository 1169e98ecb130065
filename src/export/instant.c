// SPDX-License-Identifier: MIT
#include "export/instant.h"

#include <inttypes.h>
#include <string.h>

#include "base/buffer.h"
#include "base/text.h"
#include "text/typed_value.h"
#include "trace/directory/trace.h"
#include "wire/user_event.h"

static const char *name_of(const struct cunei_trace_process *process, uint32_t id)
{
    const struct cunei_function *names = cunei_trace_function(process, id);

    return names ? names->qualname : "?";
}

static void set_name(struct cunei_instant *instant, const char *name, size_t size)
{
    instant->name = name;
    instant->name_size = size;
}

static struct cunei_detail *add_detail(struct cunei_instant *instant, const char *name,
                                       enum cunei_detail_kind kind, uint64_t bits)
{
    struct cunei_detail *detail = &instant->details[instant->detail_count++];

    *detail = (struct cunei_detail){.name = name, .kind = kind, .bits = bits};
    return detail;
}

static void add_text(struct cunei_instant *instant, const char *name, const char *text,
                     size_t size)
{
    struct cunei_detail *detail = add_detail(instant, name, CUNEI_DETAIL_TEXT, 0);

    detail->text = text;
    detail->size = size;
}

static void set_value(struct cunei_instant *instant, const uint64_t *event)
{
    const struct cunei_user_value *value = (const void *)event;
    struct cunei_user_event_text name = cunei_user_event_name(value);

    instant->value = value;
    set_name(instant, name.data, name.size);
}

/* A mark; metadata; a parameter that is not written with its call. */
static void describe_value(const struct cunei_trace_process *process,
                           const uint64_t *event, struct cunei_instant *instant)
{
    const struct cunei_user_value *value = (const void *)event;
    struct cunei_user_event_text text = cunei_user_event_text(value);

    (void)process;
    set_value(instant, event);
    if (instant->class == CUNEI_CLASS_MARK && value->kind == CUNEI_VALUE_ERROR)
        instant->category = "error";
    if (value->kind == CUNEI_VALUE_INT)
        (void)add_detail(instant, "value", CUNEI_DETAIL_INT, value->value);
    else if (value->kind == CUNEI_VALUE_DOUBLE)
        (void)add_detail(instant, "value", CUNEI_DETAIL_DOUBLE, value->value);
    else if (value->kind != CUNEI_VALUE_NONE)
        add_text(instant, "value", text.data, text.size);
}

/* The name of the region that calls of a function are. */
static void describe_tag(const struct cunei_trace_process *process,
                         const uint64_t *event, struct cunei_instant *instant)
{
    const struct cunei_user_value *tag = (const void *)event;
    const char *function = name_of(process, tag->target);

    set_value(instant, event);
    add_text(instant, "function", function, strlen(function));
}

static void describe_counter(const struct cunei_trace_process *process,
                             const uint64_t *event, struct cunei_instant *instant)
{
    const struct cunei_counter *counter = (const void *)event;
    const char *name = name_of(process, counter->counter);

    set_name(instant, name, strlen(name));
    (void)add_detail(instant, "value",
                     counter->kind & CUNEI_COUNTER_TOTAL_DOUBLE ? CUNEI_DETAIL_DOUBLE
                                                                : CUNEI_DETAIL_INT,
                     counter->total);
    if (cunei_record_phase(counter->record) == CUNEI_PHASE_RESUME)
        (void)add_detail(instant, "added",
                         counter->kind & CUNEI_COUNTER_VALUE_DOUBLE
                             ? CUNEI_DETAIL_DOUBLE
                             : CUNEI_DETAIL_INT,
                         counter->value);
}

static void describe_token(const struct cunei_trace_process *process,
                           const uint64_t *event, struct cunei_instant *instant)
{
    static const char *const phases[] = {"begin", "end", "tokens", "tokens"};
    const struct cunei_token *token = (const void *)event;
    const char *name = name_of(process, token->name);

    set_name(instant, name, strlen(name));
    (void)add_detail(instant, "stream", CUNEI_DETAIL_UNSIGNED, token->serial);
    (void)add_detail(instant, phases[cunei_record_phase(token->record)],
                     CUNEI_DETAIL_UNSIGNED, token->count);
}

static void describe_exception(const struct cunei_trace_process *process,
                               const uint64_t *event, struct cunei_instant *instant)
{
    const struct cunei_exception *exception = (const void *)event;

    (void)process;
    set_name(instant, exception->type, strnlen(exception->type, exception->length));
    (void)add_detail(instant, "line", CUNEI_DETAIL_UNSIGNED, exception->line);
}

static const struct {
    const char *category;
    void (*describe)(const struct cunei_trace_process *process, const uint64_t *event,
                     struct cunei_instant *instant);
    bool only_enter; /* later phases repeat an event */
} rows[CUNEI_CLASS_COUNT] = {
    [CUNEI_CLASS_EXCEPTION] = {"exception", describe_exception, true},
    [CUNEI_CLASS_MARK] = {"mark", describe_value, false},
    [CUNEI_CLASS_COUNTER] = {"counter", describe_counter, false},
    [CUNEI_CLASS_PARAMETER] = {"parameter", describe_value, false},
    [CUNEI_CLASS_TAG] = {"region", describe_tag, false},
    [CUNEI_CLASS_METADATA] = {"metadata", describe_value, false},
    [CUNEI_CLASS_TOKEN] = {"token", describe_token, false},
};

bool cunei_instant_describe(const struct cunei_trace_process *process,
                            const uint64_t *event, struct cunei_instant *instant)
{
    uint32_t class = cunei_record_class(event[0]);

    if (class >= CUNEI_CLASS_COUNT || !rows[class].describe ||
        (rows[class].only_enter && cunei_record_phase(event[0]) != CUNEI_PHASE_ENTER))
        return false;
    *instant = (struct cunei_instant){.class = class, .category = rows[class].category};
    rows[class].describe(process, event, instant);
    return true;
}

struct cunei_instant cunei_instant_of_loss(const struct cunei_loss *loss)
{
    static const char name[] = "events were lost", unknown[] = "not known";
    struct cunei_instant instant = {.class = CUNEI_CLASS_GAP, .category = "lost"};

    set_name(&instant, name, sizeof(name) - 1);
    if (loss->count > 0)
        (void)add_detail(&instant, "count", CUNEI_DETAIL_UNSIGNED, loss->count);
    else
        add_text(&instant, "count", unknown, sizeof(unknown) - 1);
    return instant;
}

void cunei_instant_put_json(const struct cunei_instant *instant,
                            struct cunei_buffer *out)
{
    for (unsigned i = 0; i < instant->detail_count; i++) {
        const struct cunei_detail *detail = &instant->details[i];
        cunei_buffer_format(out, "%s\"%s\":", i == 0 ? "{" : ",", detail->name);
        if (detail->kind == CUNEI_DETAIL_TEXT)
            cunei_text_json(out, detail->text, detail->size);
        else if (detail->kind == CUNEI_DETAIL_UNSIGNED)
            cunei_buffer_format(out, "%" PRIu64, detail->bits);
        else
            cunei_typed_value_format_number(
                detail->bits, detail->kind == CUNEI_DETAIL_DOUBLE, true, out);
    }
    cunei_buffer_append_text(out, instant->detail_count > 0 ? "}" : "");
}
