// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/recording/switch.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/buffer.h"
#include "base/pattern.h"
#include "probe/budget/budget.h"
#include "probe/code/code.h"
#include "probe/core/compat.h"
#include "probe/core/world.h"
#include "probe/core/write.h"
#include "probe/events/c_call.h"
#include "probe/recording/probe_state.h"
#include "probe/recording/selection.h"
#include "rt/recorder.h"
#include "wire/event.h"
#include "wire/record_env.h"

/* A longer environment variable would keep programs from starting. */
#define HANDED_ON_MAX 128000u

/* The recording of this process, with control taken; NULL: there is none. */
static struct cunei_probe *begin(void)
{
    if (!cunei_probe_is_main() || !cunei_world_take_control())
        return NULL;
    struct cunei_probe *state = cunei_probe_active();
    if (state && cunei_recorder_is_on())
        return state;
    cunei_world_leave_control();
    return NULL;
}

static void write_gap(enum cunei_phase phase)
{
    uint64_t words[] = {cunei_record(0, CUNEI_CLASS_GAP, phase), 0};

    cunei_write_words(words, 2, true);
}

static void renew(void *unused)
{
    (void)unused;
    cunei_recorder_renew();
}

static void keep_renewing(void *unused)
{
    (void)unused;
    cunei_recorder_keep_renewing();
}

/* Switch events off; each thread's next event begins a packet. */
static void turn_off(struct cunei_probe *state)
{
    const struct cunei_source_methods *methods = state->source->methods;

    cunei_budget_end();
    if (methods->pause_all)
        methods->pause_all(state->source);
    else
        methods->pause(state->source);
    cunei_c_call_reset();
    cunei_world_stop(renew, NULL);
}

static int resume(struct cunei_source *source, const struct cunei_source_config *config)
{
    if (source->methods->prepare(source, config) < 0 ||
        source->methods->record(source) < 0)
        return -1;
    if (config->is_selective || config->lines)
        cunei_selection_resolve_open();
    return 0;
}

static void count_threads(void *context)
{
    uint64_t *count = context;
    PyThreadState *thread = PyInterpreterState_ThreadHead(PyInterpreterState_Get());

    for (; thread; thread = PyThreadState_Next(thread))
        (*count)++;
}

/* The program has removed our hooks: no thread is recorded any more. */
static void count_lost_threads(struct cunei_probe *state)
{
    uint64_t count = 0;

    if (state->is_lost)
        return;
    state->is_lost = true;
    cunei_world_stop(count_threads, &count);
    cunei_recorder_count_lost_threads(count);
}

/*
 * If events cannot be switched on, nothing is recorded any more, which is reported.
 * Without a GIL, an event of the program's own may begin a packet before the events are
 * on, and other threads may record calls before this one continues.
 */
static void turn_on(struct cunei_probe *state)
{
    const struct cunei_source_config config = cunei_selection_config(state);

    cunei_world_stop(keep_renewing, NULL);
    cunei_c_call_reset();
    cunei_budget_restart();
    if (resume(state->source, &config) < 0) {
        PyErr_Clear();
        count_lost_threads(state);
    }
    cunei_world_stop(renew, NULL);
}

bool cunei_switch_pause(void)
{
    struct cunei_probe *state = begin();

    if (!state)
        return false;
    if (state->pauses++ == 0) {
        write_gap(CUNEI_PHASE_ENTER);
        turn_off(state);
    }
    cunei_world_leave_control();
    return true;
}

bool cunei_switch_resume(void)
{
    struct cunei_probe *state = begin();

    if (!state)
        return false;
    bool is_paused = state->pauses > 0;
    if (is_paused && --state->pauses == 0) {
        turn_on(state);
        write_gap(CUNEI_PHASE_LEAVE);
    }
    cunei_world_leave_control();
    return is_paused;
}

struct change {
    struct cunei_patterns *to, *from;
};

/*
 * With the world stopped: no thread is reading the patterns.  Of several equal texts
 * the last counts, so that a program may select as often as it likes; but the first
 * pattern decides about functions that no pattern matches.
 */
static void add_patterns(void *context)
{
    struct change *change = context;
    char reason[1];

    for (size_t i = 0; i < change->from->count; i++) {
        bool include;
        const char *text = cunei_patterns_text(change->from, i, &include);
        cunei_patterns_remove(change->to, 1, text);
        (void)cunei_patterns_add(change->to, include, text, reason, sizeof(reason));
    }
}

/* Record in the trace that functions were filtered. */
static void record_patterns(const struct cunei_patterns *patterns)
{
    for (size_t i = 0; i < patterns->count; i++) {
        bool include;
        const char *text = cunei_patterns_text(patterns, i, &include);
        struct cunei_buffer pattern = {0};
        cunei_buffer_format(&pattern, "%c%s", include ? '+' : '-', text);
        if (pattern.data && !pattern.failed)
            cunei_recorder_add_pattern(pattern.data);
        cunei_buffer_fini(&pattern);
    }
}

/* Whether these are the last patterns already. */
static bool are_last(const struct cunei_patterns *patterns,
                     const struct cunei_patterns *last)
{
    if (patterns->count < last->count)
        return false;
    for (size_t i = 0; i < last->count; i++) {
        bool include, is_included;
        const char *text = cunei_patterns_text(last, i, &include);
        const char *other = cunei_patterns_text(
            patterns, patterns->count - last->count + i, &is_included);
        if (include != is_included || strcmp(text, other) != 0)
            return false;
    }
    return true;
}

static bool only_includes(const struct cunei_patterns *patterns)
{
    for (size_t i = 0; i < patterns->count; i++) {
        bool include;
        (void)cunei_patterns_text(patterns, i, &include);
        if (!include)
            return false;
    }
    return true;
}

static void select_anew(struct cunei_probe *state, struct change *change)
{
    turn_off(state);
    cunei_selection_remove(state);
    cunei_world_stop(add_patterns, change);
    cunei_selection_apply(state);
    if (state->pauses == 0)
        turn_on(state);
}

bool cunei_switch_add(struct cunei_patterns *patterns, PyCodeObject *code)
{
    struct cunei_probe *state = begin();

    if (!state)
        return false;
    struct change change = {&state->session.patterns, patterns};
    bool is_all = change.to->count == 0;
    /* A function that was never called is decided at its first sight. */
    bool is_unseen = code && !cunei_code_is_seen(code);
    bool is_change = is_all ? !only_includes(patterns) : !are_last(change.to, patterns);
    if (is_change && !is_all && is_unseen)
        cunei_world_stop(add_patterns, &change);
    else if (is_change)
        select_anew(state, &change);
    if (is_change)
        record_patterns(patterns);
    cunei_world_leave_control();
    return true;
}

void cunei_switch_decorated(PyCodeObject *code)
{
    struct cunei_patterns none = {0};

    if (!cunei_recorder_is_on())
        return;
    bool is_left_out = cunei_code_is_seen(code) && !cunei_code_id(cunei_code_tag(code));
    struct cunei_probe *active = cunei_probe_active();
    if (!is_left_out && !(active && active->source->methods->add_decorated))
        return;
    struct cunei_probe *state = begin();
    if (!state)
        return;
    struct change change = {&state->session.patterns, &none};
    if (is_left_out)
        select_anew(state, &change);
    if (state->source->methods->add_decorated)
        state->source->methods->add_decorated(state->source, code);
    cunei_world_leave_control();
}

/* The texts of the list as patterns; -1 with an exception set. */
static int take_texts(struct cunei_patterns *patterns, bool include, PyObject *list)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++) {
        /* The list has no other owner: the package has just made it. */
        Py_ssize_t size = 0;
        const char *text = PyUnicode_AsUTF8AndSize(PyList_GET_ITEM(list, i), &size);
        char error[128] = "";
        if (!text)
            return -1;
        if (strlen(text) != (size_t)size) {
            PyErr_SetString(PyExc_ValueError, "a pattern cannot contain a NUL");
            return -1;
        }
        int rc = cunei_patterns_add(patterns, include, text, error, sizeof(error));
        if (rc < 0) {
            PyErr_Format(PyExc_ValueError, "%s '%s' is not a valid pattern: %s",
                         include ? "include" : "exclude", text,
                         rc == -EINVAL ? error : strerror(-rc));
            return -1;
        }
    }
    return 0;
}

PyObject *cunei_switch_select(PyObject *module, PyObject *args)
{
    struct cunei_patterns patterns = {0};
    PyObject *list = NULL, *code = Py_None, *result = NULL;
    int include = 0;
    (void)module;

    if (!PyArg_ParseTuple(args, "pO!|O:select", &include, &PyList_Type, &list, &code))
        return NULL;
    if (take_texts(&patterns, include, list) == 0)
        result = PyBool_FromLong(cunei_switch_add(
            &patterns, PyCode_Check(code) ? (PyCodeObject *)code : NULL));
    cunei_patterns_fini(&patterns);
    return result;
}

static void copy_patterns(struct cunei_patterns *to, const struct cunei_patterns *from)
{
    char reason[1];

    cunei_patterns_fini(to);
    for (size_t i = 0; i < from->count; i++) {
        bool include;
        const char *text = cunei_patterns_text(from, i, &include);
        (void)cunei_patterns_add(to, include, text, reason, sizeof(reason));
    }
}

/* -1: the environment stays as it is. */
static int hand_on(const struct cunei_record_env *session, const char *before,
                   struct cunei_buffer *text)
{
    struct cunei_record_env next = {0};
    int rc = cunei_record_env_parse(&next, before);

    if (rc == 0 && (next.only_pid || !next.directory ||
                    strcmp(next.directory, session->directory) != 0))
        rc = -1;
    if (rc == 0) {
        copy_patterns(&next.patterns, &session->patterns);
        cunei_record_env_format(&next, text);
    }
    if (rc == 0 && (text->failed || text->size > HANDED_ON_MAX))
        rc = -1;
    cunei_record_env_fini(&next);
    return rc < 0 ? -1 : 0;
}

PyObject *cunei_switch_handed_on(PyObject *module, PyObject *text)
{
    const char *before = PyBytes_AsString(text);
    struct cunei_probe *state = before ? begin() : NULL;
    struct cunei_buffer next = {0};
    (void)module;

    if (!before)
        return NULL;
    int rc = state ? hand_on(&state->session, before, &next) : -1;
    if (state)
        cunei_world_leave_control();
    PyObject *result =
        rc < 0 ? Py_NewRef(Py_None)
               : PyBytes_FromStringAndSize(next.data, (Py_ssize_t)next.size);
    cunei_buffer_fini(&next);
    return result;
}
