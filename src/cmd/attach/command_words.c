// SPDX-License-Identifier: MIT
#include "cmd/attach/command_words.h"

#include <string.h>

#include "attach/process_facts.h"
#include "base/buffer.h"
#include "wire/process.h"

#define SIZE_LIMIT (1u << 20)

void cunei_command_words_read(pid_t pid, struct cunei_process *process)
{
    struct cunei_buffer text = {0};

    *process = (struct cunei_process){.pid = (uint64_t)pid};
    if (cunei_process_file_read(pid, "cmdline", SIZE_LIMIT, &text) == 0 &&
        cunei_buffer_text(&text)[0]) {
        for (size_t at = 0; at < text.size; at += strlen(text.data + at) + 1)
            (void)cunei_process_add(&process->arguments, &process->argument_count,
                                    text.data + at);
    }
    cunei_buffer_fini(&text);
}
