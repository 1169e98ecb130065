// SPDX-License-Identifier: MIT
#include "trace/process/fork_names.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/process/process.h"

#define PREFIX "fork "

/* Whether nothing else has named it; it may have such a name already. */
static bool is_fork(const struct cunei_trace_process *process)
{
    const struct cunei_process *described = &process->description;
    const char *name = described->name;

    return described->forked && described->parent_folder &&
           (!name || strncmp(name, PREFIX, sizeof(PREFIX) - 1) == 0) &&
           process->state != CUNEI_TRACE_REPLACED;
}

static const char *parent_of(const struct cunei_trace_process *process)
{
    return process->description.parent_folder;
}

/* By parent, then by start. */
static int compare(const void *a, const void *b)
{
    struct cunei_trace_process *one = *(struct cunei_trace_process *const *)a;
    struct cunei_trace_process *two = *(struct cunei_trace_process *const *)b;
    int order = strcmp(parent_of(one), parent_of(two));

    return order != 0 ? order : one < two ? -1 : one > two;
}

static int name_run(struct cunei_trace_process **run, size_t count)
{
    for (size_t i = 0; count > 1 && i < count; i++) {
        if (!run[i]->description.name &&
            asprintf(&run[i]->description.name, PREFIX "%zu", i + 1) < 0) {
            run[i]->description.name = NULL;
            return -ENOMEM;
        }
    }
    return 0;
}

int cunei_fork_names_set(struct cunei_trace_process *processes, size_t process_count)
{
    struct cunei_trace_process **order =
        calloc(process_count + 1, sizeof(struct cunei_trace_process *));
    size_t count = 0;
    int rc = order ? 0 : -ENOMEM;

    for (size_t i = 0; order && i < process_count; i++) {
        if (is_fork(&processes[i]))
            order[count++] = &processes[i];
    }
    if (count > 1)
        qsort((void *)order, count, sizeof(struct cunei_trace_process *), compare);
    for (size_t i = 0, end; rc == 0 && i < count; i = end) {
        for (end = i + 1;
             end < count && strcmp(parent_of(order[i]), parent_of(order[end])) == 0;)
            end++;
        rc = name_run(order + i, end - i);
    }
    free((void *)order);
    return rc;
}
