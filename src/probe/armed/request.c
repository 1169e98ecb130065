// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/armed/request.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/syntax_error.h"
#include "probe/armed/controller.h"
#include "probe/armed/request_worker.h"
#include "probe/core/compat.h"
#include "probe/recording/control.h"
#include "probe/recording/probe_state.h"
#include "probe/recording/switch.h"
#include "wire/control_message.h"
#include "wire/record_env.h"

/* Changed by the thread that takes requests, or by the worker while it waits for that;
 * a forked child has a copy. */
static struct {
    uint64_t number; /* 0: there is none */
    bool stay;
} session;

uint64_t cunei_request_session(void)
{
    if (!cunei_probe_active())
        session.number = 0;
    return session.stay ? 0 : session.number;
}

/* A request on its way, with the GIL. */
struct job {
    const struct cunei_request_context *context;
    struct cunei_controller *controller;
    const struct cunei_control_request *request;
    struct cunei_control_answer *answer;
    bool has_other_controller;
};

static void refuse(struct job *job, const char *reason)
{
    job->answer->error = strdup(reason);
}

/* The exception that is set, as the reason. */
static void refuse_by_exception(struct job *job)
{
    job->answer->error = cunei_compat_take_error_text();
}

/* Whether the recording that is on was started by a controller, and not by others. */
static bool is_attached(const struct cunei_probe *state)
{
    return session.number && cunei_probe_active() == state && state->session.attached;
}

void cunei_request_end_session(struct cunei_probe *state)
{
    if (is_attached(state))
        cunei_control_stop(state);
    session.number = 0;
}

static int parse_record(struct job *job, struct cunei_record_env *env)
{
    const char *text = job->request->record;
    int rc = text ? cunei_record_env_parse(env, text) : -EINVAL;

    if (rc < 0)
        refuse(job, "it does not understand how to record; use the same version of "
                    "cunei on both sides");
    return rc;
}

static void refuse_attached(struct job *job)
{
    char *text = NULL;

    if (asprintf(&text,
                 "it is attached already, and records into '%s'; 'cunei attach %d "
                 "--detach' ends that",
                 job->context->state->session.directory, (int)getpid()) >= 0)
        job->answer->error = text;
}

static void start(struct job *job)
{
    struct cunei_record_env env = {0};

    if (is_attached(job->context->state)) {
        refuse_attached(job);
        return;
    }
    if (parse_record(job, &env) < 0)
        return;
    env.attached = true;
    if (!env.directory)
        refuse(job, "the request names no directory to record into");
    else if (cunei_control_start(job->context->state, &env) < 0)
        refuse_by_exception(job);
    else {
        session.number = job->request->session;
        session.stay = job->request->stay;
        job->controller->session = session.stay ? 0 : session.number;
    }
    cunei_record_env_fini(&env);
}

static void resume(struct job *job)
{
    if (!is_attached(job->context->state) || session.number != job->request->session)
        refuse(job, "the recording has ended");
    else
        job->controller->session = session.number;
}

static void stop(struct job *job)
{
    if (!is_attached(job->context->state))
        refuse(job, "it is not attached");
    else if (job->request->session && job->request->session != session.number)
        refuse(job, "another controller has attached it meanwhile");
    else {
        cunei_request_end_session(job->context->state);
        job->controller->session = 0;
    }
}

static void disarm(struct job *job)
{
    if (is_attached(job->context->state))
        refuse_attached(job);
}

/* As the text says, but for the budget; -1 with an exception set. */
static int start_with(struct cunei_probe *state, const struct cunei_buffer *text,
                      uint64_t budget)
{
    struct cunei_record_env env = {0};

    int rc = text->failed ? -ENOMEM : cunei_record_env_parse(&env, text->data);
    env.budget = budget;
    if (rc == 0)
        rc = cunei_control_start(state, &env);
    else
        (void)PyErr_NoMemory();
    cunei_record_env_fini(&env);
    return rc < 0 ? -1 : 0;
}

/*
 * A budget holds for a whole recording: begin another one, in a folder of its own; or
 * one like that before, if this Python has no budgets.
 */
static void change_budget(struct job *job, uint64_t budget)
{
    struct cunei_probe *state = job->context->state;
    uint64_t before = state->session.budget;
    struct cunei_buffer text = {0};

    cunei_record_env_format(&state->session, &text);
    cunei_control_stop(state);
    if (start_with(state, &text, budget) < 0) {
        refuse_by_exception(job);
        if (start_with(state, &text, before) < 0)
            session.number = 0;
    }
    cunei_buffer_fini(&text);
}

static void change(struct job *job)
{
    struct cunei_record_env env = {0};

    if (parse_record(job, &env) < 0)
        return;
    bool is_recorded = cunei_probe_active() != NULL;
    if (is_recorded && env.budget && !is_attached(job->context->state))
        refuse(job, "only the budget of a recording that 'cunei attach' has started "
                    "can be changed");
    else if (!is_recorded ||
             (env.patterns.count && !cunei_switch_add(&env.patterns, NULL)))
        refuse(job, "it is not being recorded");
    else if (env.budget)
        change_budget(job, env.budget);
    cunei_record_env_fini(&env);
}

static void none(struct job *job)
{
    (void)job;
}

static void (*const actions[CUNEI_CONTROL_ACTIONS])(struct job *) = {
    [CUNEI_CONTROL_STATUS] = none,   [CUNEI_CONTROL_START] = start,
    [CUNEI_CONTROL_RESUME] = resume, [CUNEI_CONTROL_STOP] = stop,
    [CUNEI_CONTROL_CHANGE] = change, [CUNEI_CONTROL_DISARM] = disarm,
};

/* What every answer says, with the GIL. */
static void describe(struct job *job)
{
    const struct cunei_probe *active = cunei_probe_active();
    struct cunei_control_answer *answer = job->answer;

    answer->pid = (uint64_t)getpid();
    answer->version = strdup(CUNEI_VERSION);
    answer->python = strdup(PY_VERSION);
    answer->armed_by = strdup(job->context->armed_by);
    if (active && active->session.directory)
        answer->directory = strdup(active->session.directory);
    if (!is_attached(job->context->state))
        session.number = 0; /* the program has ended it */
    answer->session = session.number;
    answer->stay = session.number && session.stay;
    answer->has_controller = session.number && job->has_other_controller;
}

/*
 * A controller that has gone while the worker waited for the GIL does not wait for the
 * answer: nothing may begin then.
 */
static bool is_awaited(void *context)
{
    const struct job *job = context;

    return !cunei_controller_has_left(job->controller);
}

static void carry_out(void *context)
{
    struct job *job = context;

    actions[job->request->action](job);
    describe(job);
}

static enum cunei_request_result result_of(const struct job *job)
{
    if (job->answer->error)
        return CUNEI_REQUEST_ANSWERED;
    if (job->request->action == CUNEI_CONTROL_DISARM)
        return CUNEI_REQUEST_DISARM;
    return job->request->action == CUNEI_CONTROL_START ? CUNEI_REQUEST_STARTED
                                                       : CUNEI_REQUEST_ANSWERED;
}

static void refuse_line(struct cunei_control_answer *answer, int rc,
                        const struct cunei_syntax_error *error)
{
    char *text = NULL;

    if (rc == -EPROTO) {
        if (asprintf(&text,
                     "it has cunei %s, which speaks another version; use the same "
                     "version on both sides",
                     CUNEI_VERSION) >= 0)
            answer->error = text;
    } else if (asprintf(&text, "it does not understand the request: column %zu: %s",
                        error->column, error->text) >= 0)
        answer->error = text;
    answer->version = strdup(CUNEI_VERSION);
}

enum cunei_request_result cunei_request_handle(
    const struct cunei_request_context *context, struct cunei_controller *controller,
    size_t size, bool has_other_controller)
{
    struct cunei_control_request request;
    struct cunei_control_answer answer = {0};
    struct cunei_syntax_error error;
    enum cunei_request_result result = CUNEI_REQUEST_ANSWERED;

    int rc = cunei_control_request_parse(&request, controller->in.data, size, &error);
    if (rc == 0) {
        struct job job = {context, controller, &request, &answer, has_other_controller};
        cunei_request_worker_do(
            context->worker, &(struct cunei_request_work){carry_out, is_awaited, &job});
        result = result_of(&job);
    } else
        refuse_line(&answer, rc, &error);
    cunei_control_answer_format(&answer, &controller->out);
    cunei_buffer_append_text(&controller->out, "\n");
    cunei_control_answer_fini(&answer);
    cunei_control_request_fini(&request);
    return result;
}

static void end_session(void *state)
{
    cunei_request_end_session(state);
}

static bool is_due(void *context)
{
    (void)context;
    return true;
}

void cunei_request_abandon(const struct cunei_request_context *context)
{
    cunei_request_worker_do(context->worker, &(struct cunei_request_work){
                                                 end_session, is_due, context->state});
}
