// SPDX-License-Identifier: MIT
#include "trigger/parse.h"

#include <errno.h>
#include <string.h>

#include "base/buffer.h"
#include "base/glob.h"
#include "base/measure.h"
#include "trigger/kind.h"
#include "trigger/triggers.h"

int cunei_trigger_refuse(const struct cunei_trigger *trigger,
                         struct cunei_buffer *reason)
{
    cunei_buffer_format(reason,
                        "the trigger '%s' is not of the form %s, for example %s",
                        trigger->text, trigger->kind->form, trigger->kind->example);
    return -EINVAL;
}

int cunei_trigger_parse_name(struct cunei_trigger *trigger, const char *rest,
                             struct cunei_buffer *reason)
{
    if (rest[0] != ':' || rest[1] == '\0')
        return cunei_trigger_refuse(trigger, reason);
    const char *mistake = cunei_glob_check(rest + 1);
    if (mistake) {
        cunei_buffer_format(reason, "the pattern of the trigger '%s' is not valid: %s",
                            trigger->text, mistake);
        return -EINVAL;
    }
    trigger->argument = strdup(rest + 1);
    return trigger->argument ? 0 : -ENOMEM;
}

int cunei_trigger_parse_limit(struct cunei_trigger *trigger, const char *rest,
                              struct cunei_buffer *reason)
{
    if (rest[0] != '>')
        return cunei_trigger_refuse(trigger, reason);
    if (!cunei_measure_duration(rest + 1, &trigger->limit_ns)) {
        cunei_buffer_format(reason,
                            "the trigger '%s' needs a time after the '>', for example "
                            "%s, not '%s'",
                            trigger->text, trigger->kind->example, rest + 1);
        return -EINVAL;
    }
    return 0;
}

int cunei_trigger_parse_word(struct cunei_trigger *trigger, const char *rest,
                             const char *wanted, struct cunei_buffer *reason)
{
    return strcmp(rest, wanted) == 0 ? 0 : cunei_trigger_refuse(trigger, reason);
}
