// SPDX-License-Identifier: MIT
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/glob.h"
#include "trace/trace.h"
#include "wire/words.h"

const char *cunei_trace_folder(const struct cunei_trace_process *process)
{
    const char *slash = strrchr(process->path, '/');
    return slash && slash[1] ? slash + 1 : process->path;
}

bool cunei_trace_is_called(const struct cunei_trace_process *process, const char *word)
{
    const char *name = process->description.name;
    struct cunei_words words = cunei_words_read(&process->description);
    char pid[16];

    (void)snprintf(pid, sizeof(pid), "%" PRIu32, process->metadata.pid);
    return strcmp(word, pid) == 0 ||
           cunei_glob_matches(word, cunei_trace_folder(process)) ||
           (name && cunei_glob_matches(word, name)) ||
           (words.script[0] &&
            cunei_glob_matches(word, cunei_words_base(words.script))) ||
           (words.module && cunei_glob_matches(word, words.module));
}

bool cunei_trace_is_chosen(const struct cunei_trace_process *process,
                           const struct cunei_trace_choice *choice)
{
    bool is_chosen = !choice || choice->count == 0;

    for (size_t i = 0; !is_chosen && i < choice->count; i++)
        is_chosen = cunei_trace_is_called(process, choice->words[i]);
    return is_chosen;
}
