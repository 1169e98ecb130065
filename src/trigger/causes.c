// SPDX-License-Identifier: MIT
#include "trigger/causes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "trace/process/process.h"
#include "trigger/firing.h"

static struct cunei_caused *find(const struct cunei_causes *causes, const char *folder,
                                 const char *trigger)
{
    for (size_t i = 0; i < causes->count; i++) {
        struct cunei_caused *caused = &causes->items[i];
        if (strcmp(caused->folder, folder) == 0 &&
            strcmp(caused->cause.trigger, trigger) == 0)
            return caused;
    }
    return NULL;
}

int cunei_causes_add(struct cunei_causes *causes,
                     const struct cunei_trigger_firing *firing)
{
    const char *folder = cunei_trace_folder(firing->process);
    struct cunei_caused *known = find(causes, folder, firing->cause->trigger);

    causes->firings++;
    if (known) {
        known->cause.count++;
        return 0;
    }
    if (!CUNEI_VECTOR_RESERVE_ONE(causes->items, causes->count))
        return -ENOMEM;
    struct cunei_caused *added = &causes->items[causes->count];
    added->folder = strdup(folder);
    added->pid = firing->process->metadata.pid;
    int rc = added->folder ? cunei_cause_copy(&added->cause, firing->cause) : -ENOMEM;
    if (rc < 0)
        free(added->folder);
    else
        causes->count++;
    return rc;
}

void cunei_causes_fini(struct cunei_causes *causes)
{
    for (size_t i = 0; i < causes->count; i++) {
        free(causes->items[i].folder);
        cunei_cause_fini(&causes->items[i].cause);
    }
    free(causes->items);
    *causes = (struct cunei_causes){0};
}
