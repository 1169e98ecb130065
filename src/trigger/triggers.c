// SPDX-License-Identifier: MIT
#include "trigger/triggers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/vector.h"
#include "trigger/kind.h"

static const struct cunei_trigger_kind *find_kind(const char *text, size_t size)
{
    for (size_t i = 0; cunei_trigger_kinds[i]; i++) {
        const struct cunei_trigger_kind *kind = cunei_trigger_kinds[i];
        if (strlen(kind->name) == size && strncmp(kind->name, text, size) == 0)
            return kind;
    }
    return NULL;
}

void cunei_triggers_format_forms(struct cunei_buffer *out)
{
    for (size_t i = 0; cunei_trigger_kinds[i]; i++)
        cunei_buffer_format(out, "%s%s", i ? ", " : "", cunei_trigger_kinds[i]->form);
}

static void trigger_fini(struct cunei_trigger *trigger)
{
    free(trigger->text);
    free(trigger->argument);
    cunei_patterns_fini(&trigger->patterns);
    *trigger = (struct cunei_trigger){0};
}

/* Why it is not a trigger of any kind. */
static int refuse(const char *text, struct cunei_buffer *reason)
{
    cunei_buffer_format(reason, "there is no trigger '%s'; a trigger is one of ", text);
    cunei_triggers_format_forms(reason);
    return -EINVAL;
}

int cunei_triggers_add(struct cunei_triggers *triggers, const char *text,
                       struct cunei_buffer *reason)
{
    size_t size = strcspn(text, ":>!=");
    struct cunei_trigger trigger = {.kind = find_kind(text, size)};

    if (!trigger.kind)
        return refuse(text, reason);
    if (triggers->count == CUNEI_TRIGGERS_MAX) {
        cunei_buffer_format(reason, "at most %u triggers are possible",
                            CUNEI_TRIGGERS_MAX);
        return -EINVAL;
    }
    trigger.text = strdup(text);
    int rc =
        trigger.text ? trigger.kind->parse(&trigger, text + size, reason) : -ENOMEM;
    if (rc == 0 && !CUNEI_VECTOR_RESERVE_ONE(triggers->items, triggers->count))
        rc = -ENOMEM;
    if (rc < 0) {
        trigger_fini(&trigger);
        return rc;
    }
    triggers->items[triggers->count++] = trigger;
    return 0;
}

void cunei_triggers_fini(struct cunei_triggers *triggers)
{
    for (size_t i = 0; i < triggers->count; i++)
        trigger_fini(&triggers->items[i]);
    free(triggers->items);
    *triggers = (struct cunei_triggers){0};
}
