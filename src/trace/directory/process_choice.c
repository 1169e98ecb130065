// SPDX-License-Identifier: MIT
#include "trace/directory/process_choice.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/glob.h"
#include "python/command_line.h"
#include "trace/directory/trace.h"

bool cunei_trace_is_called(const struct cunei_trace_process *process, const char *word)
{
    const char *name = process->description.name;
    struct cunei_command_line words = cunei_command_line_read(
        process->description.executable, process->description.arguments,
        process->description.argument_count);
    char pid[16];

    (void)snprintf(pid, sizeof(pid), "%" PRIu32, process->metadata.pid);
    return strcmp(word, pid) == 0 ||
           cunei_glob_matches(word, cunei_trace_folder(process)) ||
           (name && cunei_glob_matches(word, name)) ||
           (words.script[0] &&
            cunei_glob_matches(word, cunei_command_line_base(words.script))) ||
           (words.module && cunei_glob_matches(word, words.module));
}

static bool is_damage_chosen(const struct cunei_trace *trace, const char *folder,
                             const struct cunei_trace_choice *choice)
{
    bool is_chosen = !choice || choice->count == 0;

    for (size_t i = 0; i < trace->process_count; i++) {
        if (strcmp(cunei_trace_folder(&trace->processes[i]), folder) == 0)
            return cunei_trace_is_chosen(&trace->processes[i], choice);
    }
    for (size_t i = 0; !is_chosen && i < choice->count; i++)
        is_chosen = cunei_glob_matches(choice->words[i], folder);
    return is_chosen;
}

const struct cunei_trace_error *cunei_trace_next_damage(
    const struct cunei_trace *trace, const struct cunei_trace_choice *choice,
    size_t *next)
{
    while (*next < trace->damage_count) {
        const struct cunei_trace_damage *damage = &trace->damages[(*next)++];
        if (is_damage_chosen(trace, damage->folder, choice))
            return &damage->error;
    }
    return NULL;
}

bool cunei_trace_is_chosen(const struct cunei_trace_process *process,
                           const struct cunei_trace_choice *choice)
{
    bool is_chosen = !choice || choice->count == 0;

    for (size_t i = 0; !is_chosen && i < choice->count; i++)
        is_chosen = cunei_trace_is_called(process, choice->words[i]);
    return is_chosen;
}
