// SPDX-License-Identifier: MIT
#include "cmd/top/attach_targets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/units.h"
#include "base/vector.h"
#include "cmd/attach/attached_recording.h"
#include "cmd/attach/connect.h"
#include "cmd/attach/session.h"
#include "cmd/common/message.h"
#include "cmd/common/recording_target.h"
#include "cmd/record/temporary_trace.h"
#include "cmd/top/targets.h"
#include "cmd/top/top_options.h"

#define TIMEOUT_NS (5 * CUNEI_NS_PER_S)
#define UPDATE_NS  100000000l

bool cunei_top_must_attach(const char *word)
{
    return cunei_attach_pid(word) > 0 && access(word, F_OK) < 0 &&
           !cunei_recording_target_is_recorded(word);
}

/* Until top ends; each session is used by this thread alone meanwhile. */
static void *update_all(void *argument)
{
    struct cunei_top_attached *attached = argument;
    const struct timespec pause = {.tv_nsec = UPDATE_NS};

    while (!atomic_load(&attached->is_ending)) {
        for (size_t i = 0; attached->items && i < attached->count; i++)
            (void)cunei_attached_update(&attached->items[i]->attached,
                                        cunei_attach_session_path(attached->items[i]));
        (void)nanosleep(&pause, NULL);
    }
    return NULL;
}

static void pause_updates(struct cunei_top_attached *attached)
{
    atomic_store(&attached->is_ending, true);
    if (attached->has_thread)
        (void)pthread_join(attached->thread, NULL);
    attached->has_thread = false;
}

static int begin_updates(struct cunei_top_attached *attached)
{
    atomic_store(&attached->is_ending, false);
    int rc = -pthread_create(&attached->thread, NULL, update_all, attached);
    attached->has_thread = rc == 0;
    return rc;
}

static void end(struct cunei_attach_session *session)
{
    if (session->attached.count)
        (void)cunei_attach_session_end(session);
    if (session->run.directory)
        cunei_temporary_trace_remove(&session->run);
    cunei_attach_session_fini(session);
    free(session);
}

static int start(struct cunei_attach_session *session, const char *word,
                 const struct cunei_top_options *options)
{
    int status = cunei_attach_connect(word, true, TIMEOUT_NS, &session->target,
                                      &session->connection);

    session->timeout_ns = TIMEOUT_NS;
    session->run.options = &options->recording;
    if (status == EXIT_SUCCESS)
        status = cunei_attach_session_make_temporary(session);
    if (status == EXIT_SUCCESS)
        status = cunei_attach_session_begin(session, false);
    return status;
}

/* 1: the process is recorded, and a target now; 0: it is not; -ENOMEM. */
static int watch_recorded(struct cunei_top_attached *attached, const char *word,
                          struct cunei_top_targets *targets)
{
    struct cunei_attached_recording recording = {0};

    if (!cunei_attached_recording_find(&recording, word))
        return 0;
    if (!CUNEI_VECTOR_RESERVE_ONE(attached->recordings, attached->recording_count) ||
        cunei_top_targets_add(targets, recording.path, NULL) < 0) {
        cunei_attached_recording_fini(&recording);
        return -ENOMEM;
    }
    attached->recordings[attached->recording_count++] = recording;
    return 1;
}

static int add(struct cunei_top_attached *attached,
               struct cunei_attach_session *session, struct cunei_top_targets *targets)
{
    if (!CUNEI_VECTOR_RESERVE_ONE(attached->items, attached->count) ||
        cunei_top_targets_add(targets, cunei_attach_session_path(session), NULL) < 0)
        return -ENOMEM;
    attached->items[attached->count++] = session;
    return 0;
}

static int attach(struct cunei_top_attached *attached, const char *word,
                  const struct cunei_top_options *options,
                  struct cunei_top_targets *targets)
{
    struct cunei_attach_session *session = calloc(1, sizeof(*session));

    if (!session)
        return cunei_cmd_fail(-ENOMEM, "cannot watch '%s'", word);
    session->connection.fd = -1;
    int status = start(session, word, options);
    pause_updates(attached);
    if (status == EXIT_SUCCESS && add(attached, session, targets) < 0)
        status = cunei_cmd_fail(-ENOMEM, "cannot watch '%s'", word);
    if (status != EXIT_SUCCESS)
        end(session);
    int rc = begin_updates(attached);
    return rc < 0 ? cunei_cmd_fail(rc, "cannot watch '%s'", word) : status;
}

int cunei_top_attach(struct cunei_top_attached *attached, const char *word,
                     const struct cunei_top_options *options,
                     struct cunei_top_targets *targets)
{
    int rc = watch_recorded(attached, word, targets);

    if (rc < 0)
        return cunei_cmd_fail(rc, "cannot watch '%s'", word);
    return rc > 0 ? EXIT_SUCCESS : attach(attached, word, options, targets);
}

void cunei_top_detach(struct cunei_top_attached *attached)
{
    pause_updates(attached);
    for (size_t i = 0; attached->items && i < attached->count; i++)
        end(attached->items[i]);
    free(attached->items);
    for (size_t i = 0; i < attached->recording_count; i++)
        cunei_attached_recording_fini(&attached->recordings[i]);
    free(attached->recordings);
    *attached = (struct cunei_top_attached){0};
}
