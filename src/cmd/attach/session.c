// SPDX-License-Identifier: MIT
#include "cmd/attach/session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/safe_open.h"
#include "cmd/attach/command_words.h"
#include "cmd/attach/connect.h"
#include "cmd/common/follow_wait.h"
#include "cmd/common/message.h"
#include "cmd/record/program.h"
#include "cmd/record/record_options.h"
#include "cmd/record/trace_directory.h"
#include "rt/clock.h"
#include "wire/process.h"
#include "wire/record_env.h"

#define POLL_NS (100 * CUNEI_NS_PER_MS)

/* What its program is called; owned. */
static char *name_program(const struct cunei_process_facts *facts)
{
    struct cunei_process words;

    cunei_command_words_read(facts->pid, &words);
    char *name =
        words.argument_count
            ? cunei_program_name_of_command((int)words.argument_count, words.arguments)
            : NULL;
    cunei_process_fini(&words);
    return name ? name : strdup(facts->name);
}

const char *cunei_attach_session_path(const struct cunei_attach_session *session)
{
    return session->remote.path ? session->remote.ours : session->run.directory;
}

/* Root has made the directory: the process's user writes to it. */
static int give_away(const struct cunei_attach_session *session)
{
    const struct cunei_process_facts *process = &session->target.process;
    const struct cunei_recorded_run *run = &session->run;

    int fd = cunei_safe_open_directory(run->directory, &run->directory_id);
    int rc = fd < 0 ? fd : 0;
    if (rc == 0 && fchownat(fd, "", process->effective_uid, process->effective_gid,
                            AT_EMPTY_PATH) < 0)
        rc = -errno;
    if (fd >= 0)
        close(fd);
    if (rc < 0 || seteuid(process->effective_uid) < 0)
        return rc;
    if (faccessat(AT_FDCWD, run->directory, R_OK | W_OK | X_OK, AT_EACCESS) < 0)
        rc = -errno;
    (void)!seteuid(0);
    return rc;
}

static void remove_unused(const struct cunei_attach_session *session)
{
    const struct cunei_recorded_run *run = &session->run;

    (void)cunei_trace_directory_remove_unused(run->directory, &run->directory_id,
                                              run->directory_existed);
}

static int fail_to_give_away(const struct cunei_attach_session *session, int rc)
{
    const struct cunei_recorded_run *run = &session->run;
    int status = cunei_cmd_fail(rc,
                                "user %u, who runs process %d, cannot write to '%s'; "
                                "choose another directory with -o, for example in /tmp",
                                (unsigned)session->target.process.effective_uid,
                                (int)session->target.process.pid, run->shown);

    remove_unused(session);
    return status;
}

/* The directory was made; now the process must be able to write to it, or to another.
 */
static int let_it_write(struct cunei_attach_session *session)
{
    const struct cunei_process_facts *process = &session->target.process;
    const struct cunei_recorded_run *run = &session->run;
    struct cunei_attach_error error;

    if (process->is_in_other_mount_namespace &&
        !cunei_remote_directory_is_shared(process, run->directory,
                                          &run->directory_id)) {
        if (cunei_remote_directory_make(&session->remote, process, &error) == 0)
            return EXIT_SUCCESS;
        remove_unused(session);
        return cunei_cmd_fail(0, "%s", error.text);
    }
    bool is_ours = geteuid() != 0 || process->effective_uid == 0;
    int rc = is_ours ? 0 : give_away(session);
    return rc < 0 ? fail_to_give_away(session, rc) : EXIT_SUCCESS;
}

/* The directory with this name, or a new one. */
static int make_directory(struct cunei_attach_session *session, const char *name)
{
    struct cunei_recorded_run *run = &session->run;
    struct cunei_buffer text = {0}, reason = {0};

    run->program.name = name_program(&session->target.process);
    if (!name) {
        cunei_buffer_format(&text, "cunei-%s-%d",
                            run->program.name ? run->program.name : "python",
                            (int)session->target.process.pid);
        run->directory = cunei_trace_directory_make_new(text.data, "-o", &run->shown,
                                                        &run->directory_id, &reason);
    } else if (*name) {
        run->directory = cunei_trace_directory_make(name, "-o", run->options->force,
                                                    &run->directory_id,
                                                    &run->directory_existed, &reason);
        run->shown = strdup(name);
    } else
        cunei_buffer_append_text(&reason, "-o needs the name of a directory");
    int status = reason.size ? cunei_cmd_fail(0, "%s", reason.data) : EXIT_SUCCESS;
    cunei_buffer_fini(&text);
    cunei_buffer_fini(&reason);
    return status;
}

int cunei_attach_session_make_copy(struct cunei_attach_session *session,
                                   const char *name)
{
    return session->remote.path ? make_directory(session, name) : EXIT_SUCCESS;
}

int cunei_attach_session_make_directory(struct cunei_attach_session *session,
                                        const char *name)
{
    int status = make_directory(session, name);

    return status == EXIT_SUCCESS ? let_it_write(session) : status;
}

int cunei_attach_session_make_temporary(struct cunei_attach_session *session)
{
    struct cunei_recorded_run *run = &session->run;
    struct cunei_buffer reason = {0};

    run->program.name = name_program(&session->target.process);
    run->directory = cunei_trace_directory_make_temporary(&run->directory_id, &reason);
    if (!run->directory) {
        int status = cunei_cmd_fail(0, "%s", cunei_buffer_text(&reason));
        cunei_buffer_fini(&reason);
        return status;
    }
    run->shown = strdup(run->directory);
    return let_it_write(session);
}

/* A number that no other controller has; never 0. */
static uint64_t draw_number(void)
{
    uint64_t number = 0;

    if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != sizeof(number))
        number = cunei_clock_ns(CLOCK_REALTIME);
    return (number >> 4) + 1;
}

/* How to record, for the request. */
static void format_record(const struct cunei_attach_session *session,
                          struct cunei_buffer *text)
{
    struct cunei_record_env env = cunei_recorded_run_env(&session->run);

    env.attached = true;
    if (session->remote.path) {
        env.directory = session->remote.path;
        env.directory_id = session->remote.id;
    }
    if (session->run.options->no_children)
        env.only_pid = (uint64_t)session->target.process.inner_pid;
    cunei_record_env_format(&env, text);
}

static int ask_to_start(struct cunei_attach_session *session,
                        const struct cunei_buffer *record, bool stay)
{
    const struct cunei_control_request request = {.action = CUNEI_CONTROL_START,
                                                  .session = session->attached.session,
                                                  .stay = stay,
                                                  .record = record->data};
    struct cunei_control_answer answer;
    struct cunei_attach_error error;

    int rc = cunei_attach_ask(&session->connection, &session->target.process, &request,
                              session->timeout_ns, &answer, &error);
    if (rc == 0)
        cunei_control_answer_fini(&answer);
    if (rc == 0)
        return EXIT_SUCCESS;
    if (rc == -EREMOTEIO)
        return cunei_cmd_fail(0, "cannot attach to process %d: %s",
                              (int)session->target.process.pid, error.text);
    return cunei_cmd_fail(0, "%s", error.text);
}

int cunei_attach_session_begin(struct cunei_attach_session *session, bool stay)
{
    struct cunei_recorded_run *run = &session->run;
    struct cunei_clock_pair first = cunei_clock_pair();
    struct cunei_buffer record = {0};

    int status = cunei_recorded_run_check_ring(run);
    if (status == EXIT_SUCCESS) {
        run->frequency = cunei_recorded_run_frequency(&first);
        session->attached = (struct cunei_attached_processes){
            .session = draw_number(), .timeout_ns = session->timeout_ns};
        format_record(session, &record);
        status = record.failed ? cunei_cmd_fail(-ENOMEM, "cannot attach")
                               : ask_to_start(session, &record, stay);
    }
    cunei_buffer_fini(&record);
    if (status != EXIT_SUCCESS || (stay && session->remote.path))
        remove_unused(session);
    if (status != EXIT_SUCCESS)
        return status;
    int rc = cunei_attached_add(&session->attached, &session->connection,
                                &session->target.process);
    return rc < 0 ? cunei_cmd_fail(rc, "cannot attach") : EXIT_SUCCESS;
}

/* Only a directory of the process's user, or ours, is read and written to. */
static bool recognize(struct cunei_attach_session *session)
{
    const struct cunei_process_facts *process = &session->target.process;
    struct cunei_recorded_run *run = &session->run;
    struct stat status;

    if (stat(run->directory, &status) < 0 || !S_ISDIR(status.st_mode) ||
        (status.st_uid != process->effective_uid && status.st_uid != geteuid()))
        return false;
    run->directory_id = cunei_file_id_of(&status);
    return !process->is_in_other_mount_namespace ||
           cunei_remote_directory_is_shared(process, run->directory,
                                            &run->directory_id);
}

/* Where the process records is not where we see it: it is copied at the end. */
static int adopt_remote(struct cunei_attach_session *session)
{
    struct cunei_recorded_run *run = &session->run;
    struct cunei_attach_error error;

    int rc = cunei_remote_directory_open(&session->remote, &session->target.process,
                                         run->directory, &error);
    free(run->directory);
    free(run->shown);
    run->directory = run->shown = NULL;
    run->directory_existed = false;
    return rc < 0 ? cunei_cmd_fail(0, "%s", error.text) : EXIT_SUCCESS;
}

int cunei_attach_session_adopt(struct cunei_attach_session *session,
                               const struct cunei_control_answer *answer)
{
    struct cunei_recorded_run *run = &session->run;
    int status = EXIT_SUCCESS;

    session->attached = (struct cunei_attached_processes){
        .session = answer->session, .timeout_ns = session->timeout_ns};
    run->directory = answer->directory ? strdup(answer->directory) : NULL;
    run->shown = answer->directory ? strdup(answer->directory) : NULL;
    run->directory_existed = true;
    if (run->directory && !recognize(session))
        status = adopt_remote(session);
    int rc = cunei_attached_add(&session->attached, &session->connection,
                                &session->target.process);
    return rc < 0 ? cunei_cmd_fail(rc, "cannot detach") : status;
}

bool cunei_attach_session_wait(struct cunei_attach_session *session, uint64_t for_ns)
{
    uint64_t begin = cunei_clock_ns(CLOCK_MONOTONIC);
    bool is_recording = true;

    while (is_recording) {
        uint64_t passed = cunei_clock_ns(CLOCK_MONOTONIC) - begin;
        if (passed >= for_ns)
            break;
        uint64_t rest = for_ns - passed > POLL_NS ? POLL_NS : for_ns - passed;
        if (cunei_follow_wait(rest, -1) != CUNEI_FOLLOW_ON)
            break;
        is_recording = cunei_attached_update(&session->attached,
                                             cunei_attach_session_path(session)) > 0;
    }
    return is_recording;
}

int cunei_attach_session_end(struct cunei_attach_session *session)
{
    struct cunei_attach_error error;

    if (cunei_attach_session_path(session))
        (void)cunei_attached_update(&session->attached,
                                    cunei_attach_session_path(session));
    if (cunei_attached_stop(&session->attached, &error) < 0)
        return cunei_cmd_fail(0, "%s", error.text);
    if (session->remote.path &&
        cunei_remote_directory_fetch(&session->remote, session->run.directory, &error) <
            0)
        return cunei_cmd_fail(0, "%s", error.text);
    return EXIT_SUCCESS;
}

void cunei_attach_session_fini(struct cunei_attach_session *session)
{
    cunei_connection_close(&session->connection);
    cunei_attached_fini(&session->attached);
    cunei_remote_directory_close(&session->remote);
    cunei_recorded_run_fini(&session->run);
    cunei_target_close(&session->target);
}
