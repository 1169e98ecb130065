// SPDX-License-Identifier: MIT
#include "cmd/attach/status.h"

#include <stdio.h>
#include <stdlib.h>

#include "attach/connection.h"
#include "base/buffer.h"
#include "cmd/attach/connect.h"
#include "cmd/common/message.h"
#include "cmd/common/output.h"
#include "text/json.h"
#include "text/terminal_text.h"

int cunei_attach_ask_status(struct cunei_connection *connection,
                            const struct cunei_process_facts *process,
                            uint64_t timeout_ns, struct cunei_control_answer *answer)
{
    const struct cunei_control_request request = {.action = CUNEI_CONTROL_STATUS};
    struct cunei_attach_error error;

    int rc =
        cunei_attach_ask(connection, process, &request, timeout_ns, answer, &error);
    return rc < 0 ? cunei_cmd_fail(0, "%s", error.text) : EXIT_SUCCESS;
}

static const char *state_of(const struct cunei_control_answer *answer)
{
    if (answer->session && answer->stay)
        return "attached";
    if (answer->session)
        return answer->has_controller ? "attached, by a controller in the foreground"
                                      : "attached, its controller is away";
    return answer->directory ? "recording" : "armed";
}

static void put(struct cunei_buffer *out, const char *before, const char *text)
{
    if (!text)
        return;
    cunei_buffer_append_text(out, before);
    cunei_terminal_text(out, text, SIZE_MAX);
}

static int print_text(int pid, const struct cunei_control_answer *answer)
{
    struct cunei_buffer line = {0};

    cunei_buffer_format(&line, "process %d: %s", pid, state_of(answer));
    put(&line, "; records into ", answer->directory);
    put(&line, "; armed by ", answer->armed_by);
    put(&line, "; Python ", answer->python);
    put(&line, ", cunei ", answer->version);
    int status = puts(cunei_buffer_text(&line)) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
    cunei_buffer_fini(&line);
    return status;
}

static void put_text(struct cunei_json *json, const char *name, const char *text)
{
    if (text)
        cunei_json_text(json, name, text);
    else
        cunei_json_raw(json, name, "null");
}

static int print_json(int pid, const struct cunei_control_answer *answer)
{
    struct cunei_json json = {.out = stdout};

    cunei_json_open(&json, NULL, '{');
    cunei_json_number(&json, "version", 1);
    cunei_json_number(&json, "pid", (uint64_t)pid);
    cunei_json_text(&json, "state",
                    answer->session     ? "attached"
                    : answer->directory ? "recording"
                                        : "armed");
    put_text(&json, "directory", answer->directory);
    put_text(&json, "armed_by", answer->armed_by);
    cunei_json_flag(&json, "stay", answer->stay);
    cunei_json_flag(&json, "has_controller", answer->has_controller);
    put_text(&json, "python", answer->python);
    put_text(&json, "cunei", answer->version);
    cunei_json_close(&json, '}');
    return cunei_json_end(&json) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

int cunei_attach_print_status(struct cunei_connection *connection,
                              const struct cunei_process_facts *process,
                              uint64_t timeout_ns, bool json)
{
    struct cunei_control_answer answer;

    int status = cunei_attach_ask_status(connection, process, timeout_ns, &answer);
    if (status != EXIT_SUCCESS)
        return status;
    status = json ? print_json((int)connection->pid, &answer)
                  : print_text((int)connection->pid, &answer);
    cunei_control_answer_fini(&answer);
    return status;
}
