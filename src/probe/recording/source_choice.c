// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/recording/source_choice.h"

#include "probe/core/compat.h"
#include "python/incompatibility.h"
#include "python/refusal_reason.h"
#include "rt/recorder.h"

enum cunei_instrumenter cunei_source_choice_of(const struct cunei_record_env *session)
{
    return session->instrumenter == CUNEI_INSTRUMENTER_DEFAULT
               ? cunei_instrumenter_default(PY_MINOR_VERSION)
               : session->instrumenter;
}

static struct cunei_request request_of(const struct cunei_record_env *session)
{
    struct cunei_request request = {
        .instrumenter = cunei_source_choice_of(session),
        .c_calls = session->c_calls,
        .lines = session->lines.count > 0,
        .arguments = session->arguments.count > 0,
        .results = session->results.count > 0,
        .budget = session->budget > 0,
        .no_gil = !CUNEI_COMPAT_HAS_GIL,
    };

    if (session->patterns.count > 0)
        (void)cunei_patterns_text(&session->patterns, 0, &request.include);
    request.exclude = session->patterns.count > 0 && !request.include;
    return request;
}

struct cunei_source *cunei_source_choice_make(const struct cunei_record_env *session,
                                              struct cunei_source *const *sources)
{
    struct cunei_request request = request_of(session);
    enum cunei_incompatibility found =
        cunei_incompatibility_find(&request, PY_MINOR_VERSION);
    const struct cunei_incompatibility_context context = {
        .inside = true, .subject = "this is CPython 3." Py_STRINGIFY(PY_MINOR_VERSION)};
    struct cunei_buffer sentence = {0};

    if (!found)
        return sources[request.instrumenter];
    cunei_incompatibility_format(found, &request, PY_MINOR_VERSION, &context,
                                 &sentence);
    PyErr_SetString(PyExc_ValueError, sentence.failed ? "" : sentence.data);
    cunei_buffer_fini(&sentence);
    return NULL;
}

int cunei_source_choice_refusal(const struct cunei_record_env *session)
{
    struct cunei_request request = request_of(session);

    return cunei_refusal_reason_of_incompatibility(
        cunei_incompatibility_find(&request, PY_MINOR_VERSION), request.instrumenter,
        PY_MINOR_VERSION);
}

const struct cunei_patterns *cunei_source_choice_patterns(
    const struct cunei_record_env *session)
{
    static struct cunei_patterns none; /* excludes everything, from the first call on */

    if (cunei_source_choice_of(session) != CUNEI_INSTRUMENTER_NONE)
        return &session->patterns;
    if (none.count == 0)
        (void)cunei_patterns_add(&none, false, "re:.", NULL, 0);
    return &none;
}

int cunei_source_choice_report_losses(struct cunei_source *source)
{
    const struct cunei_source_methods *methods = source->methods;

    if (!methods->record_losses)
        return 0;
    if (cunei_recorder_is_on()) {
        methods->record_losses(source);
        return 0;
    }
    int rc = methods->prepare(source, &source->config);
    PyErr_Clear();
    return rc < 0 ? source->refusal : 0;
}
