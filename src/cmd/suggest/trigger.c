// SPDX-License-Identifier: MIT
#include "cmd/suggest/trigger.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/vector.h"
#include "cmd/suggest/suggestion.h"
#include "trace/directory/trace.h"
#include "trigger/kind.h"
#include "trigger/triggers.h"

enum {
    NAMES_MAX = 1000,
    NAMES_SHOWN = 4,
};

void cunei_trigger_names_add(struct cunei_trigger_names *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++) {
        if (strcmp(names->items[i], name) == 0)
            return;
    }
    if (names->count == NAMES_MAX ||
        !CUNEI_VECTOR_RESERVE_ONE(names->items, names->count))
        return;
    char *copy = strdup(name);
    if (copy)
        names->items[names->count++] = copy;
}

void cunei_trigger_names_fini(struct cunei_trigger_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->items[i]);
    free(names->items);
    *names = (struct cunei_trigger_names){0};
}

/* Some of the names that there are. */
static void put_names(const struct cunei_trigger_names *names, const char *before,
                      struct cunei_buffer *out)
{
    for (size_t i = 0; i < names->count && i < NAMES_SHOWN; i++)
        cunei_buffer_format(out, "%s%s", i ? ", " : before, names->items[i]);
    if (names->count > NAMES_SHOWN)
        cunei_buffer_append_text(out, ", …");
}

/* The name as a whole, or the part behind its last dot. */
static void offer(struct cunei_suggestion *suggestion, const char *name)
{
    const char *dot = strrchr(name, '.');

    cunei_suggestion_offer(suggestion, name);
    if (dot)
        cunei_suggestion_offer(suggestion, dot + 1);
}

static void suggest_name(const struct cunei_trigger *trigger,
                         const struct cunei_trigger_names *names, const char *path,
                         struct cunei_buffer *sentence)
{
    struct cunei_suggestion suggestion = {.word = trigger->argument};
    struct cunei_buffer prefix = {0};

    for (size_t i = 0; i < names->count; i++)
        offer(&suggestion, names->items[i]);
    cunei_buffer_format(sentence, "no %s in '%s' matches '%s'", trigger->kind->names,
                        path, trigger->argument);
    cunei_buffer_format(&prefix, "%s:", trigger->kind->name);
    if (suggestion.name)
        cunei_suggestion_format(&suggestion, cunei_buffer_text(&prefix), NULL,
                                sentence);
    else
        put_names(names, "; there are ", sentence);
    cunei_buffer_fini(&prefix);
}

/* A function is compared with what stands behind the ':', or with the whole. */
static void suggest_function(const struct cunei_trigger *trigger,
                             const struct cunei_trace *trace, const char *path,
                             struct cunei_buffer *sentence)
{
    const char *colon = strrchr(trigger->argument, ':');
    struct cunei_suggestion suggestion = {.word =
                                              colon ? colon + 1 : trigger->argument};

    for (size_t i = 0; i < trace->process_count; i++) {
        const struct cunei_trace_process *process = &trace->processes[i];
        for (uint32_t j = 0; j < process->function_count; j++) {
            const struct cunei_function *function = &process->functions[j];
            if (function->module)
                (void)cunei_suggestion_offer_function(&suggestion, function->qualname);
        }
    }
    cunei_buffer_format(sentence, "no function called in '%s' matches '%s'", path,
                        trigger->argument);
    cunei_suggestion_format(
        &suggestion, "slow::", "a pattern is a module, module:qualname, a file or re:…",
        sentence);
}

bool cunei_suggest_trigger(const struct cunei_trigger *trigger, uint64_t functions,
                           const struct cunei_trigger_names *names,
                           const struct cunei_trace *trace, const char *path,
                           struct cunei_buffer *sentence)
{
    if (trigger->kind->matches && functions == 0)
        suggest_function(trigger, trace, path, sentence);
    else if (trigger->kind->event)
        suggest_name(trigger, names, path, sentence);
    else
        return false;
    return true;
}
