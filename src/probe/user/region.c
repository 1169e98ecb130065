// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/user/region.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "probe/code/code_resolve.h"
#include "probe/code/frames.h"
#include "probe/core/compat.h"
#include "probe/core/frame.h"
#include "probe/core/hot.h"
#include "probe/core/write.h"
#include "probe/user/region_list.h"
#include "probe/user/user_name.h"
#include "rt/clock.h"
#include "rt/recorder.h"
#include "wire/event.h"

static atomic_bool has_frames; /* the source records frames of functions */

/* The running frame; a C function that it has called has no frame. */
static const void *running(void)
{
    return cunei_frame_running(PyThreadState_Get());
}

static void write_phase(struct cunei_user_name *user_name, enum cunei_phase phase)
{
    uint32_t id = cunei_user_name_id(user_name);

    if (id)
        cunei_write_phase(id, phase, true);
    else
        cunei_recorder_lose(CUNEI_LIVE_LOST_NO_FUNCTION);
}

/* Whether the function begins something that outlives it. */
static bool is_beginner(const PyCodeObject *code)
{
    static const char *const names[] = {"enter_context", "__enter__", "__aenter__"};

    size_t length = (size_t)PyUnicode_GET_LENGTH(code->co_name);

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (length == strlen(names[i]) &&
            PyUnicode_CompareWithASCIIString(code->co_name, names[i]) == 0)
            return true;
    }
    return false;
}

/*
 * The frame that a region which begins now belongs to: it is suspended with it.  The
 * frame must have events if it can be suspended, or if the region may outlive it.
 * NULL: none.
 */
static const void *find_frame(enum cunei_region_form form)
{
    if (form == CUNEI_REGION_TOOL)
        return atomic_load(&has_frames) ? cunei_frames_find_recorded(false, false)
                                        : NULL;
    const int generators = CO_GENERATOR | CO_ASYNC_GENERATOR;
    PyCodeObject *code = cunei_frame_code(PyThreadState_Get());
    const void *frame = running();
    int flags = code ? code->co_flags : 0;
    bool may_outlive = code && (form == CUNEI_REGION_CALLS || is_beginner(code));
    bool is_around = flags & generators && cunei_frames_is_around_block();
    bool has_events = !is_around && (flags & CUNEI_GENERATES || may_outlive) &&
                      cunei_code_enable_regions(code, cunei_frames_globals());

    if (is_around || (may_outlive && !has_events && atomic_load(&has_frames)))
        frame = atomic_load(&has_frames) ? cunei_frames_find_recorded(is_around, true)
                                         : NULL;
    Py_XDECREF(code);
    return frame;
}

void cunei_region_begin(struct cunei_user_name *user_name, enum cunei_region_form form,
                        enum cunei_phase phase)
{
    const void *frame = find_frame(form);
    struct cunei_region_list *list = cunei_region_list_get();
    if (!list || !cunei_region_list_reserve(list)) {
        cunei_recorder_lose(CUNEI_LIVE_LOST_NO_STREAM);
        return;
    }
    /* Before it is open: a packet that begins with this event does not list it. */
    write_phase(user_name, phase);
    /* A packet may have begun, which creates objects, which may collect garbage. */
    if (cunei_region_list_reserve(list))
        list->opens[list->count++] = (struct cunei_region_list_open){
            .user_name = cunei_user_name_keep(user_name),
            .frame = frame,
            .greenlet = list->greenlet,
            .form = form,
        };
}

static bool is_named(const struct cunei_region_list_open *open,
                     const struct cunei_user_name *user_name)
{
    return !user_name || open->user_name == user_name ||
           cunei_user_name_is_same(open->user_name, user_name);
}

/* The innermost that matches; list->count: none. */
static size_t find(const struct cunei_region_list *list,
                   const struct cunei_user_name *user_name, enum cunei_region_form form,
                   const void *frame)
{
    for (size_t i = list->count; i > 0; i--) {
        const struct cunei_region_list_open *open = &list->opens[i - 1];
        if (open->form == form && open->greenlet == list->greenlet &&
            (!frame || open->frame == frame) && is_named(open, user_name))
            return i - 1;
    }
    return list->count;
}

/* Its index is the same unless writing a packet ran other code. */
static size_t find_same(const struct cunei_region_list *list,
                        const struct cunei_region_list_open *open)
{
    size_t at = list->count;

    while (at > 0 && (list->opens[at - 1].user_name != open->user_name ||
                      list->opens[at - 1].frame != open->frame))
        at--;
    return at > 0 ? at - 1 : list->count;
}

/* Resume the regions that were suspended with the frame, the outermost first. */
static void resume(struct cunei_region_list *list, const void *frame)
{
    struct cunei_region_list_node *nodes = cunei_region_list_take(frame);

    while (nodes) {
        struct cunei_region_list_node *node = nodes;
        nodes = node->next;
        if (cunei_region_list_reserve(list)) {
            write_phase(node->open.user_name, CUNEI_PHASE_RESUME);
            node->open.greenlet = list->greenlet;
            list->opens[list->count++] = node->open;
        } else {
            cunei_recorder_lose(CUNEI_LIVE_LOST_NO_STREAM);
            cunei_user_name_free(node->open.user_name);
        }
        free(node);
    }
}

/* Some hooks report late that an exception resumes a frame. */
static void resume_callers(struct cunei_region_list *list)
{
    const void *frames[CUNEI_FRAMES_NEAR];
    size_t count =
        cunei_region_list_has_suspended() ? cunei_frames_list_near(frames) : 0;

    for (size_t i = count; i > 0; i--)
        resume(list, frames[i - 1]);
}

/* The region that ends now; list->count: none. */
static size_t find_ended(struct cunei_region_list *list,
                         const struct cunei_user_name *user_name,
                         enum cunei_region_form form)
{
    const void *frame = running();
    size_t at =
        form == CUNEI_REGION_WITH ? find(list, user_name, form, frame) : list->count;

    if (at == list->count && form == CUNEI_REGION_WITH) {
        resume(list, frame);
        at = find(list, user_name, form, frame);
    }
    if (at == list->count)
        at = find(list, user_name, form, NULL);
    if (at == list->count) {
        resume_callers(list);
        at = find(list, user_name, form, NULL);
    }
    return at;
}

bool cunei_region_end(const struct cunei_user_name *user_name,
                      enum cunei_region_form form, enum cunei_phase phase)
{
    struct cunei_region_list *list = cunei_region_list_get();

    if (!list)
        return false;
    size_t at = find_ended(list, user_name, form);
    if (at == list->count) {
        bool is_earlier = form == CUNEI_REGION_CALLS && list->unrecorded > 0;
        list->unrecorded -= is_earlier;
        return is_earlier;
    }
    /* While it is open: a packet that begins with this event lists it. */
    const struct cunei_region_list_open open = list->opens[at];
    write_phase(open.user_name, phase);
    at = find_same(list, &open);
    if (at < list->count)
        cunei_region_list_remove(list, at);
    return true;
}

void cunei_region_begin_unrecorded(void)
{
    struct cunei_region_list *list = cunei_region_list_get();

    if (list)
        list->unrecorded++;
}

void cunei_region_end_unrecorded(const struct cunei_user_name *user_name)
{
    struct cunei_region_list *list = cunei_region_list_get();
    size_t at = list ? find(list, user_name, CUNEI_REGION_CALLS, NULL) : 0;

    if (list && at < list->count)
        cunei_region_list_remove(list, at); /* of the recording that has ended */
    else if (list && list->unrecorded > 0)
        list->unrecorded--;
}

struct cunei_user_name *cunei_region_innermost(const void **frame)
{
    const struct cunei_region_list *list = cunei_region_list_get();

    for (size_t i = list ? list->count : 0; i > 0; i--) {
        if (list->opens[i - 1].greenlet == list->greenlet) {
            *frame = list->opens[i - 1].frame;
            return list->opens[i - 1].user_name;
        }
    }
    return NULL;
}

void cunei_region_frame_begins(void)
{
    struct cunei_region_list_node *nodes = cunei_region_list_take(running());

    /* Of an older frame at this address, whose end was not reported. */
    while (nodes) {
        struct cunei_region_list_node *node = nodes;
        nodes = node->next;
        cunei_user_name_free(node->open.user_name);
        free(node);
    }
}

void cunei_region_frame_yields(void)
{
    struct cunei_region_list *list = cunei_region_list_get();
    const void *frame = running();

    for (size_t i = list ? list->count : 0; i > 0; i--) {
        const struct cunei_region_list_open open = list->opens[i - 1];
        if (open.frame != frame)
            continue;
        write_phase(open.user_name, CUNEI_PHASE_YIELD);
        size_t at = find_same(list, &open);
        if (at == list->count)
            return;
        cunei_region_list_suspend(list, at);
        i = at + 1;
    }
}

void cunei_region_frame_resumes(void)
{
    struct cunei_region_list *list = cunei_region_list_get();

    if (list)
        resume(list, running());
}

void cunei_region_frame_ends(const PyCodeObject *code)
{
    struct cunei_region_list *list =
        cunei_region_list_peek() ? cunei_region_list_get() : NULL;
    const void *frame = running(), *callers[CUNEI_REGION_TOOL + 1];
    bool is_known[CUNEI_REGION_TOOL + 1] = {false};

    /* Some ends are reported late, when other frames run. */
    if (!list || !cunei_frame_is_ending(code))
        return;
    for (size_t i = 0; i < list->count; i++) {
        if (list->opens[i].frame != frame)
            continue;
        enum cunei_region_form form = list->opens[i].form;
        if (!is_known[form])
            callers[form] = cunei_frames_find_recorded(true, form != CUNEI_REGION_TOOL);
        is_known[form] = true;
        list->opens[i].frame = callers[form];
    }
}

/* Whether regions are affected by this event of the running frame. */
static bool is_concerned(enum cunei_phase phase)
{
    const struct cunei_region_list *list = cunei_region_list_peek();
    const void *frame = running();
    bool yes = false;

    if (phase == CUNEI_PHASE_ENTER || phase == CUNEI_PHASE_RESUME)
        return cunei_region_list_has_suspended();
    for (size_t i = list ? list->count : 0; !yes && i > 0; i--)
        yes = list->opens[i - 1].frame == frame;
    return yes;
}

bool cunei_region_frame_put(uint32_t id, enum cunei_phase phase)
{
    uint64_t now = cunei_clock_read();
    struct cunei_stream *stream = cunei_stream_own;

    if (id >= CUNEI_FUNCTION_CLASS_END || !cunei_stream_has_room(stream, now, 1) ||
        is_concerned(phase))
        return false;
    cunei_stream_put(stream, now, cunei_record(now, id, phase));
    return true;
}

void cunei_region_reset(bool frames_are_reported)
{
    cunei_region_list_reset();
    atomic_store(&has_frames, frames_are_reported);
}

void cunei_region_switch(const void *from, const void *to)
{
    struct cunei_region_list *list = cunei_region_list_get();

    if (!list)
        return;
    /* The first greenlet of a thread is known only when it is switched from. */
    for (size_t i = 0; i < list->count; i++) {
        if (!list->opens[i].greenlet)
            list->opens[i].greenlet = from;
    }
    list->greenlet = to;
}

const void *cunei_region_set_greenlet(const void *greenlet)
{
    struct cunei_region_list *list = cunei_region_list_get();
    const void *before = list ? list->greenlet : NULL;

    if (list)
        list->greenlet = greenlet;
    return before;
}
