// SPDX-License-Identifier: MIT
#include "cmd/attach/attached_recording.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "attach/connection.h"
#include "attach/process_facts.h"
#include "base/units.h"
#include "cmd/attach/connect.h"

#define TIMEOUT_NS (2 * CUNEI_NS_PER_S)

/* The directory that the process names, owned; NULL: it names none. */
static char *ask(const struct cunei_process_facts *process)
{
    const struct cunei_control_request request = {.action = CUNEI_CONTROL_STATUS};
    struct cunei_connection connection;
    struct cunei_control_answer answer;
    struct cunei_attach_error error;
    char *directory = NULL;

    if (cunei_connection_open(&connection, process, &error) < 0)
        return NULL;
    if (cunei_connection_ask(&connection, &request, TIMEOUT_NS, &answer, &error) == 0) {
        directory = answer.directory;
        answer.directory = NULL;
        cunei_control_answer_fini(&answer);
    }
    cunei_connection_close(&connection);
    return directory;
}

/* Whether it is the same directory for us. */
static bool is_ours(const struct cunei_process_facts *process, const char *path)
{
    struct stat status;

    if (!process->is_in_other_mount_namespace)
        return true;
    if (stat(path, &status) < 0)
        return false;
    const struct cunei_file_id id = cunei_file_id_of(&status);
    return cunei_remote_directory_is_shared(process, path, &id);
}

bool cunei_attached_recording_find(struct cunei_attached_recording *recording,
                                   const char *word)
{
    struct cunei_process_facts process;
    struct cunei_attach_error error;
    pid_t pid = cunei_attach_pid(word);

    if (pid == 0 || cunei_process_facts_read(pid, &process) < 0)
        return false;
    char *path = ask(&process);
    if (path && !is_ours(&process, path)) {
        int rc =
            cunei_remote_directory_open(&recording->remote, &process, path, &error);
        free(path);
        path = rc == 0 ? strdup(recording->remote.ours) : NULL;
    }
    recording->path = path;
    return path != NULL;
}

void cunei_attached_recording_fini(struct cunei_attached_recording *recording)
{
    free(recording->path);
    cunei_remote_directory_close(&recording->remote);
    *recording = (struct cunei_attached_recording){0};
}
