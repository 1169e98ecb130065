// SPDX-License-Identifier: MIT
/* The trigger `slow:PATTERN>TIME`: a call of a function, or a region, takes longer. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "trigger/kind.h"
#include "trigger/over_limit.h"
#include "trigger/parse.h"
#include "trigger/triggers.h"
#include "wire/metadata.h"
#include "wire/user_event.h"

static int parse_pattern(struct cunei_trigger *trigger, const char *text,
                         struct cunei_buffer *reason)
{
    char error[256] = "";

    int rc = cunei_patterns_add(&trigger->patterns, true, text, error, sizeof(error));
    if (rc == -EINVAL)
        cunei_buffer_format(reason, "the pattern of the trigger '%s' is not valid: %s",
                            trigger->text, error);
    return rc;
}

static int parse(struct cunei_trigger *trigger, const char *rest,
                 struct cunei_buffer *reason)
{
    const char *limit = strrchr(rest, '>');

    if (rest[0] != ':' || !limit || limit == rest + 1)
        return cunei_trigger_refuse(trigger, reason);
    int rc = cunei_trigger_parse_limit(trigger, limit, reason);
    if (rc < 0)
        return rc;
    trigger->argument = strndup(rest + 1, (size_t)(limit - rest) - 1);
    return trigger->argument ? parse_pattern(trigger, trigger->argument, reason)
                             : -ENOMEM;
}

/* A region is chosen by its name alone, behind a ':'. */
static bool matches(const struct cunei_trigger *trigger,
                    const struct cunei_function *function)
{
    enum cunei_definition definition = cunei_definition_of(function);

    if (definition == CUNEI_DEFINITION_REGION)
        return cunei_patterns_include(&trigger->patterns, "", function->qualname, "");
    return definition == CUNEI_DEFINITION_FUNCTION &&
           cunei_patterns_include(&trigger->patterns, function->module,
                                  function->qualname, function->file);
}

static bool look_at_call(struct cunei_trigger_place *place,
                         const struct cunei_trigger *trigger,
                         const struct cunei_trigger_span *span)
{
    return cunei_trigger_over_limit(place, trigger, span, "call still running after ",
                                    "call took ");
}

const struct cunei_trigger_kind cunei_trigger_kind_slow = {
    .name = "slow",
    .form = "slow:PATTERN>TIME",
    .example = "slow:app:handle>50ms",
    .help = "a call of such a function, or a region, takes longer",
    .unit = "ns",
    .parse = parse,
    .matches = matches,
    .call = look_at_call,
};
