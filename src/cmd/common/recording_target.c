// SPDX-License-Identifier: MIT
#include "cmd/common/recording_target.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/common/message.h"
#include "cmd/common/open_trace.h"
#include "trace/live/recordings.h"
#include "trace/recovery/recover.h"

void cunei_recording_target_find_all(struct cunei_recordings *recordings)
{
    struct cunei_trace_recover_options options;

    cunei_cmd_recover_options_init(&options);
    cunei_recordings_find(recordings, options.pointers, 2);
    cunei_cmd_recover_options_fini(&options);
}

/* A pid, unless a directory has that name. */
static pid_t pid_of(const char *word)
{
    if (word[strspn(word, "0123456789")] != '\0' || strlen(word) > 9 ||
        access(word, F_OK) == 0)
        return 0;
    return (pid_t)strtol(word, NULL, 10);
}

static char *find_trace(pid_t pid)
{
    struct cunei_recordings recordings = {0};
    char *trace = NULL;

    cunei_recording_target_find_all(&recordings);
    const struct cunei_recording *found =
        cunei_recordings_of(&recordings, (uint32_t)pid);
    const char *slash = found ? strrchr(found->folder, '/') : NULL;
    if (slash)
        trace = strndup(found->folder, (size_t)(slash - found->folder));
    cunei_recordings_fini(&recordings);
    return trace;
}

bool cunei_recording_target_is_recorded(const char *word)
{
    char *trace = find_trace(pid_of(word));

    free(trace);
    return trace != NULL;
}

char *cunei_recording_target_find(const char *word)
{
    pid_t pid = pid_of(word);
    if (pid == 0)
        return strdup(word);
    char *trace = find_trace(pid);

    if (trace)
        return trace;
    if (kill(pid, 0) < 0 && errno == ESRCH)
        (void)cunei_cmd_fail(0,
                             "there is no process %d, and no recording of it; 'cunei "
                             "list' shows all recordings",
                             (int)pid);
    else
        (void)cunei_cmd_fail(0,
                             "process %d is not being recorded by this user; 'cunei "
                             "attach %d' records it, 'cunei list' shows all recordings",
                             (int)pid, (int)pid);
    return NULL;
}
