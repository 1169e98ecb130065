// SPDX-License-Identifier: MIT
#include "cmd/attach/running_pythons.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "attach/injection.h"
#include "attach/target.h"
#include "cmd/attach/command_words.h"
#include "cmd/attach/refusal_words.h"
#include "text/names.h"
#include "wire/process.h"

static void write_version(const struct cunei_python_image *python, char *out,
                          size_t size)
{
    if (python->minor == 0)
        return;
    int length = snprintf(out, size, "3.%u", python->minor);
    if (python->patch >= 0)
        (void)snprintf(out + length, size - (size_t)length, ".%d", python->patch);
}

static void name_program(const struct cunei_process_facts *facts,
                         struct cunei_buffer *out)
{
    struct cunei_process words;

    cunei_command_words_read(facts->pid, &words);
    if (words.argument_count > 0)
        cunei_format_program(out, &words);
    else
        cunei_buffer_append_text(out, facts->name);
    cunei_process_fini(&words);
}

/* Whether the process is still there. */
static bool take(struct cunei_running_python *python, struct cunei_target_entry *entry)
{
    struct cunei_attach_error error = entry->error;
    int rc = entry->rc;

    python->pid = entry->target.process.pid;
    name_program(&entry->target.process, &python->program);
    write_version(&entry->target.python, python->version, sizeof(python->version));
    if (rc == 0 && entry->target.is_armed) {
        python->state = CUNEI_PYTHON_ARMED;
        return true;
    }
    if (rc == 0)
        rc = cunei_injection_check(&entry->target, &error);
    if (rc < 0 && !cunei_process_facts_is_alive(&entry->target.process))
        return false;
    python->state = rc == 0 ? CUNEI_PYTHON_ATTACHABLE : CUNEI_PYTHON_CLOSED;
    if (rc < 0)
        cunei_refusal_words_split(error.text, &python->reason, NULL);
    return true;
}

static void release(struct cunei_running_python *python)
{
    cunei_buffer_fini(&python->program);
    cunei_buffer_fini(&python->reason);
    *python = (struct cunei_running_python){0};
}

int cunei_running_pythons_read(struct cunei_running_pythons *pythons)
{
    struct cunei_target_list targets = {0};

    *pythons = (struct cunei_running_pythons){0};
    int rc = cunei_target_list_read(&targets);
    if (rc == 0) {
        pythons->items = calloc(targets.count + 1, sizeof(pythons->items[0]));
        rc = pythons->items ? 0 : -ENOMEM;
    }
    for (size_t i = 0; rc == 0 && i < targets.count; i++) {
        struct cunei_running_python *python = &pythons->items[pythons->count];
        if (targets.items[i].target.is_recording)
            continue;
        if (take(python, &targets.items[i]))
            pythons->count++;
        else
            release(python);
    }
    cunei_target_list_fini(&targets);
    return rc;
}

void cunei_running_pythons_fini(struct cunei_running_pythons *pythons)
{
    for (size_t i = 0; i < pythons->count; i++)
        release(&pythons->items[i]);
    free(pythons->items);
    *pythons = (struct cunei_running_pythons){0};
}

const char *cunei_python_state_name(enum cunei_python_state state)
{
    static const char *const names[] = {
        [CUNEI_PYTHON_ARMED] = "armed",
        [CUNEI_PYTHON_ATTACHABLE] = "attachable",
        [CUNEI_PYTHON_CLOSED] = "closed",
    };

    return names[state];
}
