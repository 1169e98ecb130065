// SPDX-License-Identifier: MIT
#include "cmd/top/session.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/text.h"
#include "cmd/common/message.h"
#include "cmd/record/launch.h"
#include "cmd/record/recorded_run.h"
#include "cmd/top/program.h"
#include "cmd/top/save.h"
#include "cmd/top/targets.h"
#include "cmd/top/top_options.h"
#include "top/draw/draw.h"
#include "top/recordings/sampler.h"
#include "top/terminal/terminal.h"
#include "top/view/model.h"

/* How often it is asked whether the program has ended. */
#define LOOK_MS 200

struct session {
    const struct cunei_top_options *options;
    const struct cunei_top_targets *targets;
    struct cunei_top_program *program; /* or NULL */
    struct cunei_top_watch watch;
    struct cunei_top_sampler sampler;
    struct cunei_top_model model;
    struct cunei_grid grid;
    struct cunei_top_save save;
    bool is_stale; /* the screen is older than the model */
    bool is_over;
    int rc; /* why it is over: 0, or a negative errno */
};

static void say(struct session *session, const char *text)
{
    struct cunei_buffer safe = {0};

    cunei_text_show(&safe, text, strlen(text));
    (void)snprintf(session->model.view.message, sizeof(session->model.view.message),
                   "%s", cunei_buffer_text(&safe));
    cunei_buffer_fini(&safe);
    session->is_stale = true;
}

static void fail(struct session *session, int rc)
{
    if (rc < 0 && session->rc == 0)
        session->rc = rc;
    session->is_over |= rc < 0;
}

static void draw(struct session *session)
{
    cunei_top_terminal_size(&session->grid.row_count, &session->grid.column_count);
    session->grid.is_ascii = cunei_top_terminal_is_ascii();
    int rc = cunei_top_model_refresh(&session->model);
    if (rc == 0)
        rc = cunei_top_draw(&session->model, &session->grid);
    if (rc == 0)
        cunei_top_terminal_show(&session->grid);
    fail(session, rc);
    session->is_stale = false;
}

/* What has ended has no rates of now: all of it is shown from then on. */
static void note_end(struct session *session)
{
    struct cunei_top_model *model = &session->model;

    if (!model->has_ended && session->sampler.sum_state == 0 &&
        (!session->program || session->program->has_ended)) {
        model->has_ended = true;
        model->view.is_whole = true;
    } else if (session->sampler.sum_state > 0)
        model->has_ended = false;
}

static void take_sums(struct session *session)
{
    struct cunei_top_sums sums = {0};

    int rc = cunei_top_sampler_take(&session->sampler, &session->model.known, &sums);
    if (rc > 0 && session->model.view.is_paused)
        rc = 0;
    if (rc > 0) {
        rc = cunei_top_model_take(&session->model, &sums);
        note_end(session);
        session->is_stale = true;
    }
    cunei_top_sums_fini(&sums);
    fail(session, rc);
}

static void start_save(struct session *session, enum cunei_top_save_kind kind)
{
    int rc = cunei_top_save_start(&session->save, kind, session->targets);
    const char *what = kind == CUNEI_TOP_SAVE_PAGE ? "export" : "snapshot";
    char text[120];

    if (rc == -EBUSY)
        (void)snprintf(text, sizeof(text), "wait for the last command to end");
    else if (rc < 0)
        (void)snprintf(text, sizeof(text), "cannot start the %s: %s", what,
                       strerror(-rc));
    else
        (void)snprintf(text, sizeof(text), "%s …", what);
    say(session, text);
}

static void search(struct session *session, bool from_next)
{
    if (cunei_top_view_search(&session->model.view, &session->model.list, from_next) <
        0)
        say(session, "no function has that text");
}

static void act(struct session *session, enum cunei_top_action action)
{
    session->is_stale = true;
    if (action == CUNEI_TOP_ACTION_QUIT)
        session->is_over = true;
    else if (action == CUNEI_TOP_ACTION_SNAPSHOT)
        start_save(session, CUNEI_TOP_SAVE_SNAPSHOT);
    else if (action == CUNEI_TOP_ACTION_EXPORT)
        start_save(session, CUNEI_TOP_SAVE_PAGE);
    else if (action == CUNEI_TOP_ACTION_REDRAW)
        cunei_top_terminal_redraw();
    else if (action == CUNEI_TOP_ACTION_SEARCH ||
             action == CUNEI_TOP_ACTION_SEARCH_NEXT)
        search(session, action == CUNEI_TOP_ACTION_SEARCH_NEXT);
}

static void click(struct session *session, const struct cunei_top_input *input)
{
    struct cunei_top_view *view = &session->model.view;
    uint32_t index = 0;

    switch (cunei_top_draw_find(&session->model, &session->grid, input->row,
                                input->column, &index)) {
    case CUNEI_TOP_PLACE_ROW:
        cunei_top_view_click(view, index);
        break;
    case CUNEI_TOP_PLACE_TAB:
        cunei_top_view_show(view, (enum cunei_top_pane)index);
        break;
    case CUNEI_TOP_PLACE_COLUMN:
        cunei_top_view_sort(view, (int)index);
        break;
    case CUNEI_TOP_PLACE_KEY:
        act(session, cunei_top_view_key(view, CUNEI_TOP_KEY_F1 + index - 1));
        break;
    case CUNEI_TOP_PLACE_NOTHING:
        break;
    }
}

static void take_input(struct session *session)
{
    struct cunei_top_view *view = &session->model.view;
    struct cunei_top_input input;

    while (!session->is_over && cunei_top_terminal_next(&input)) {
        session->is_stale = true;
        bool was_paused = view->is_paused;
        view->has_program = session->program && !session->program->has_ended;
        if (input.kind == CUNEI_TOP_INPUT_KEY)
            act(session, cunei_top_view_key(view, input.key));
        else if (input.kind == CUNEI_TOP_INPUT_CLICK)
            click(session, &input);
        else if (input.kind == CUNEI_TOP_INPUT_WHEEL)
            cunei_top_view_scroll(view, input.steps);
        else
            cunei_top_terminal_redraw();
        if (view->is_paused != was_paused)
            cunei_top_sampler_pause(&session->sampler, view->is_paused);
        /* A key may depend on what the one before has changed. */
        draw(session);
    }
}

static void take_output(struct session *session)
{
    char bytes[16384];
    ssize_t count;

    while ((count = read(session->program->output, bytes, sizeof(bytes))) > 0)
        fail(session,
             cunei_top_output_add(&session->model.output, bytes, (size_t)count));
    if (count == 0 || errno != EAGAIN) {
        close(session->program->output);
        session->program->output = -1;
    }
    session->is_stale |= session->model.view.pane == CUNEI_TOP_PANE_OUTPUT;
}

static void describe_end(struct session *session)
{
    int status = session->program->wait_status;
    char *state = session->model.state;
    size_t size = sizeof(session->model.state);

    if (WIFSIGNALED(status))
        (void)snprintf(state, size, "ended by signal %d (%s)", WTERMSIG(status),
                       strsignal(WTERMSIG(status)));
    else
        (void)snprintf(state, size, "ended with status %d", WEXITSTATUS(status));
    say(session, "The program has ended. The figures are of the whole run. o: what it "
                 "printed, q: quit");
}

static void look_at_program(struct session *session)
{
    if (!session->program || !cunei_top_program_look(session->program))
        return;
    session->is_stale = true;
    if (session->program->has_ended) {
        describe_end(session);
        cunei_top_sampler_hurry(&session->sampler);
    } else
        (void)snprintf(session->model.state, sizeof(session->model.state),
                       "STOPPED: it reads from the terminal");
    if (session->program->is_reading && !session->program->has_ended)
        say(session, "The program reads from the terminal, which top uses. Quit, start "
                     "it with 'cunei record', and watch it from another terminal with "
                     "'cunei top PID'.");
}

static void take_saved(struct session *session)
{
    char text[160];

    if (cunei_top_save_look(&session->save, text, sizeof(text)))
        say(session, text[0] ? text : "done");
}

static int wait_for_something(struct session *session, struct pollfd fds[5])
{
    int input, signals;

    cunei_top_terminal_fds(&input, &signals);
    fds[0] = (struct pollfd){.fd = input, .events = POLLIN};
    fds[1] = (struct pollfd){.fd = signals, .events = POLLIN};
    fds[2] = (struct pollfd){.fd = cunei_top_sampler_fd(&session->sampler),
                             .events = POLLIN};
    fds[3] = (struct pollfd){.fd = session->program ? session->program->output : -1,
                             .events = POLLIN};
    fds[4] = (struct pollfd){.fd = session->save.background.output, .events = POLLIN};
    bool is_watching = session->program && !session->program->has_ended;
    return poll(fds, 5, is_watching ? LOOK_MS : -1);
}

static void turn(struct session *session)
{
    struct pollfd fds[5];

    /* Interrupted: the window may have a new size, which is read like a key. */
    if (wait_for_something(session, fds) < 0) {
        if (errno != EINTR)
            fail(session, -errno);
        memset(fds, 0, sizeof(fds));
    }
    if (cunei_top_terminal_signal() || (fds[0].revents & (POLLHUP | POLLERR)))
        session->is_over = true;
    else
        take_input(session);
    if (fds[2].revents)
        take_sums(session);
    if (fds[3].revents)
        take_output(session);
    if (fds[4].revents)
        take_saved(session);
    look_at_program(session);
    if (session->is_stale && !session->is_over)
        draw(session);
}

static int start_program(struct session *session)
{
    int rows, columns;

    if (!session->program)
        return 0;
    session->model.view.has_output = true;
    cunei_top_terminal_size(&rows, &columns);
    return cunei_top_program_start(session->program, true, rows, columns);
}

/* Until the user has had enough. */
static void show(struct session *session)
{
    int rc = start_program(session);

    if (rc == 0)
        rc = cunei_top_sampler_start(&session->sampler, &session->watch,
                                     session->options->interval_ns);
    if (rc < 0) {
        fail(session, rc);
        return;
    }
    draw(session);
    while (!session->is_over)
        turn(session);
    cunei_top_sampler_stop(&session->sampler);
}

/* After the screen is gone: the end of the program, and what it printed. */
static void finish_program(struct session *session, int signal_number)
{
    struct cunei_buffer text = {0};

    if (!session->program || session->program->pid <= 0)
        return;
    cunei_top_program_end(session->program, signal_number ? signal_number : SIGTERM);
    if (session->program->output >= 0)
        take_output(session);
    if (session->program->output >= 0)
        close(session->program->output);
    cunei_top_output_copy(&session->model.output, &text);
    (void)fwrite(cunei_buffer_text(&text), 1, text.size, stdout);
    cunei_buffer_fini(&text);
}

/* Leave by the signal that asked us to. */
static int leave_by(int signal_number)
{
    (void)fflush(NULL);
    (void)signal(signal_number, SIG_DFL);
    (void)raise(signal_number);
    return 128 + signal_number;
}

static int run(struct session *session)
{
    struct cunei_buffer reason = {0};

    if (!cunei_top_terminal_open(session->options->ascii, &reason)) {
        int status = cunei_cmd_fail(0, "%s", cunei_buffer_text(&reason));
        cunei_buffer_fini(&reason);
        return status;
    }
    show(session);
    int signal_number = cunei_top_terminal_signal();
    cunei_top_terminal_close();
    finish_program(session, signal_number);
    cunei_top_save_finish(&session->save);
    if (session->rc < 0)
        return cunei_cmd_fail(session->rc, "cannot follow '%s'",
                              session->targets->items[0].path);
    return signal_number && !session->program ? leave_by(signal_number) : EXIT_SUCCESS;
}

int cunei_top_session_run(const struct cunei_top_targets *targets,
                          const struct cunei_top_options *options,
                          const struct cunei_top_view *view,
                          struct cunei_top_program *program)
{
    struct session session = {.options = options,
                              .targets = targets,
                              .program = program,
                              .save = CUNEI_TOP_SAVE_NONE};

    int status = cunei_top_targets_open(targets, options, &session.watch);
    if (status == 0) {
        int rc = cunei_top_model_init(&session.model);
        session.model.view = *view;
        status = rc < 0 ? cunei_cmd_fail(rc, "cannot show a screen") : run(&session);
    }
    cunei_top_model_fini(&session.model);
    cunei_grid_fini(&session.grid);
    cunei_top_watch_fini(&session.watch);
    return status;
}
