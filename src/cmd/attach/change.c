// SPDX-License-Identifier: MIT
#include "cmd/attach/change.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "cmd/attach/session.h"
#include "cmd/attach/status.h"
#include "cmd/common/message.h"
#include "cmd/common/options.h"
#include "wire/record_env.h"

static int add_pattern(struct cunei_record_env *env, bool include, const char *text)
{
    char reason[128] = "";

    int rc = cunei_patterns_add(&env->patterns, include, text, reason, sizeof(reason));
    if (rc == -EINVAL)
        return cunei_cmd_usage("'%s' is not a valid pattern: %s", text, reason);
    return rc < 0 ? cunei_cmd_fail(rc, "cannot use '%s'", text) : EXIT_SUCCESS;
}

static int parse_change(struct cunei_record_env *env, const char *word)
{
    const char *value = strchr(word, '=');
    size_t size = value ? (size_t)(value - word) : 0;

    if (size == 7 && strncmp(word, "include", size) == 0)
        return add_pattern(env, true, value + 1);
    if (size == 7 && strncmp(word, "exclude", size) == 0)
        return add_pattern(env, false, value + 1);
    if (size == 6 && strncmp(word, "budget", size) == 0)
        return cunei_budget_parse(value + 1, &env->budget) < 0
                   ? cunei_cmd_usage(
                         "--set budget= needs a percentage from 0.1 to 100, "
                         "for example 3%%, not '%s'",
                         value + 1)
                   : EXIT_SUCCESS;
    return cunei_cmd_usage("--set takes include=PATTERN, exclude=PATTERN or "
                           "budget=PCT, not '%s'",
                           word);
}

/* All processes of the recording. */
static int ask_all(struct cunei_attach_session *session,
                   const struct cunei_buffer *record)
{
    const struct cunei_control_request request = {.action = CUNEI_CONTROL_CHANGE,
                                                  .record = record->data};
    struct cunei_control_answer answer;
    struct cunei_attach_error error;

    int status = cunei_attach_ask_status(&session->connection, &session->target.process,
                                         session->timeout_ns, &answer);
    if (status != EXIT_SUCCESS)
        return status;
    status = cunei_attach_session_adopt(session, &answer);
    cunei_control_answer_fini(&answer);
    if (status != EXIT_SUCCESS)
        return status;
    if (session->attached.session && cunei_attach_session_path(session))
        (void)cunei_attached_update(&session->attached,
                                    cunei_attach_session_path(session));
    int rc = cunei_attached_ask(&session->attached, &request, &error);
    if (rc == -EREMOTEIO)
        return cunei_cmd_fail(0, "cannot change process %d: %s",
                              (int)session->target.process.pid, error.text);
    return rc < 0 ? cunei_cmd_fail(0, "%s", error.text) : EXIT_SUCCESS;
}

int cunei_attach_change(struct cunei_attach_session *session,
                        const struct cunei_option_list *changes)
{
    struct cunei_record_env env = {.arm = true};
    struct cunei_buffer text = {0};
    int status = EXIT_SUCCESS;

    for (size_t i = 0; i < changes->count && status == EXIT_SUCCESS; i++)
        status = parse_change(&env, changes->items[i]);
    if (status == EXIT_SUCCESS) {
        cunei_record_env_format(&env, &text);
        status = text.failed ? cunei_cmd_fail(-ENOMEM, "cannot change the recording")
                             : ask_all(session, &text);
    }
    cunei_buffer_fini(&text);
    cunei_record_env_fini(&env);
    return status;
}
