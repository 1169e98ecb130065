// SPDX-License-Identifier: MIT
#include "cmd/record/instrumenter_option.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/pattern.h"
#include "python/incompatibility.h"

enum cunei_instrumenter cunei_recording_instrumenter(
    const struct cunei_recording_values *values)
{
    return values->instrumenter < 0
               ? CUNEI_INSTRUMENTER_DEFAULT
               : (enum cunei_instrumenter)(CUNEI_INSTRUMENTER_MONITORING +
                                           values->instrumenter);
}

static struct cunei_request wish_of(const struct cunei_recording_values *values)
{
    struct cunei_request wish = {
        .instrumenter = cunei_recording_instrumenter(values),
        .c_calls = values->c_calls,
        .budget = values->budget != NULL,
        .lines = values->lines.count > 0,
        .arguments = values->arguments.count > 0,
        .results = values->results.count > 0,
    };

    for (size_t i = 0; i < values->patterns.count; i++) {
        bool include;
        (void)cunei_patterns_text(&values->patterns, i, &include);
        wish.include |= include;
        wish.exclude |= !include;
    }
    return wish;
}

/* Where it comes from [tool.cunei], if either of the two options does. */
static const struct cunei_config_item *find_item(const struct cunei_config *config,
                                                 const struct cunei_request *wish,
                                                 enum cunei_incompatibility misfit)
{
    enum cunei_incompatibility other = misfit == CUNEI_INCOMPATIBILITY_BUDGET
                                           ? cunei_incompatibility_beside_budget(wish)
                                           : CUNEI_INCOMPATIBILITY_LACKING;
    const struct cunei_config_item *item =
        cunei_config_item(config, cunei_incompatibility_option(misfit) + strlen("--"));

    return item ? item
                : cunei_config_item(config,
                                    cunei_incompatibility_option(other) + strlen("--"));
}

bool cunei_recording_check_instrumenter(const struct cunei_recording_values *values,
                                        const struct cunei_interpreter *python,
                                        struct cunei_buffer *reason)
{
    int minor = python ? python->minor : 0;
    struct cunei_request wish = wish_of(values);
    wish.no_gil = python && strcmp(python->gil, "no") == 0;
    enum cunei_incompatibility misfit = cunei_incompatibility_find(&wish, minor);
    struct cunei_buffer subject = {0};

    if (!misfit && wish.instrumenter == CUNEI_INSTRUMENTER_FRAME && python &&
        python->gil && strcmp(python->gil, "no") == 0) {
        cunei_buffer_format(reason,
                            "--instrumenter frame needs a GIL, and '%s' runs without "
                            "one; choose monitoring, profile, trace or none",
                            python->path);
        return false;
    }
    if (python)
        cunei_buffer_format(&subject, "'%s' is CPython %s", python->path,
                            python->version);
    const struct cunei_incompatibility_telling telling = {.subject = subject.data};
    const struct cunei_config_item *item =
        misfit ? find_item(&values->config, &wish, misfit) : NULL;
    if (item)
        cunei_buffer_format(reason, "%s:%zu:%zu: ", values->config.path, item->line,
                            item->column);
    if (misfit)
        cunei_incompatibility_format(misfit, &wish, minor, &telling, reason);
    cunei_buffer_fini(&subject);
    return item != NULL;
}
