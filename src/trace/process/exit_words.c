// SPDX-License-Identifier: MIT
#include "trace/process/exit_words.h"

#include <inttypes.h>
#include <signal.h>
#include <stddef.h>

#include "base/buffer.h"
#include "trace/process/process.h"

static const char *signal_name(uint64_t number)
{
    static const struct {
        int number;
        const char *name;
    } signals[] = {
        {SIGHUP, "SIGHUP"},   {SIGINT, "SIGINT"},   {SIGQUIT, "SIGQUIT"},
        {SIGILL, "SIGILL"},   {SIGTRAP, "SIGTRAP"}, {SIGABRT, "SIGABRT"},
        {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},   {SIGKILL, "SIGKILL"},
        {SIGUSR1, "SIGUSR1"}, {SIGSEGV, "SIGSEGV"}, {SIGUSR2, "SIGUSR2"},
        {SIGPIPE, "SIGPIPE"}, {SIGALRM, "SIGALRM"}, {SIGTERM, "SIGTERM"},
        {SIGXCPU, "SIGXCPU"}, {SIGXFSZ, "SIGXFSZ"}, {SIGSYS, "SIGSYS"},
    };

    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        if ((uint64_t)signals[i].number == number)
            return signals[i].name;
    }
    return NULL;
}

const char *cunei_trace_state_word(enum cunei_trace_state state)
{
    static const char *const words[] = {
        [CUNEI_TRACE_ENDED] = "ended",       [CUNEI_TRACE_RUNNING] = "recording",
        [CUNEI_TRACE_EXITED] = "ended",      [CUNEI_TRACE_TERMINATED] = "terminated",
        [CUNEI_TRACE_KILLED] = "killed",     [CUNEI_TRACE_SNAPSHOT] = "snapshot",
        [CUNEI_TRACE_REPLACED] = "replaced",
    };

    return words[state];
}

void cunei_exit_words_format(const struct cunei_trace_process *process,
                             struct cunei_buffer *out)
{
    const struct cunei_process *ended = &process->description;
    const char *name = signal_name(ended->signal);

    if (ended->signal > 0) {
        if (name)
            cunei_buffer_append_text(out, name);
        else
            cunei_buffer_format(out, "signal %" PRIu64, ended->signal);
        if (process->state == CUNEI_TRACE_TERMINATED)
            cunei_buffer_append_text(out, " from its parent");
    } else if (process->state == CUNEI_TRACE_RUNNING)
        cunei_buffer_append_text(out, "recording");
    else if (process->state == CUNEI_TRACE_SNAPSHOT)
        cunei_buffer_append_text(out, "running");
    else if (process->state == CUNEI_TRACE_REPLACED)
        cunei_buffer_append_text(out, "execv");
    else if (process->state == CUNEI_TRACE_KILLED)
        cunei_buffer_append_text(out, "killed");
    else if (ended->left)
        cunei_buffer_format(out, "os._exit(%" PRIu64 ")", ended->exit_status);
    else if (ended->exited)
        cunei_buffer_format(out, "exit(%" PRIu64 ")", ended->exit_status);
    else
        cunei_buffer_append_text(out, "ended");
}
