// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/choice.h"

#include "rt/recorder.h"

enum cunei_instrumenter cunei_choice_of(const struct cunei_session *session)
{
    return session->instrumenter == CUNEI_INSTRUMENTER_DEFAULT
               ? cunei_instrumenter_default(PY_MINOR_VERSION)
               : session->instrumenter;
}

struct cunei_source *cunei_choice_make(const struct cunei_session *session,
                                       struct cunei_source *const *sources)
{
    enum cunei_instrumenter wanted = cunei_choice_of(session);
    const char *name = cunei_instrumenter_name(wanted);

    if (!sources[wanted])
        PyErr_Format(PyExc_RuntimeError,
                     "CPython %d.%d does not have the instrumenter '%s'",
                     PY_MAJOR_VERSION, PY_MINOR_VERSION, name);
    else if (session->c_calls &&
             !cunei_instrumenter_has_c_calls(wanted, PY_MINOR_VERSION))
        PyErr_Format(PyExc_RuntimeError,
                     "the instrumenter '%s' does not tell of calls of C functions",
                     name);
    else if (session->lines.count &&
             !cunei_instrumenter_has_lines(wanted, PY_MINOR_VERSION))
        PyErr_Format(PyExc_RuntimeError, "the instrumenter '%s' does not tell of lines",
                     name);
    else
        return sources[wanted];
    return NULL;
}

const struct cunei_patterns *cunei_choice_patterns(const struct cunei_session *session)
{
    static struct cunei_patterns none; /* excludes everything, from the first time on */

    if (cunei_choice_of(session) != CUNEI_INSTRUMENTER_NONE)
        return &session->patterns;
    if (none.count == 0)
        (void)cunei_patterns_add(&none, false, "re:", NULL, 0);
    return &none;
}

int cunei_choice_tell_losses(struct cunei_source *source)
{
    const struct cunei_source_methods *methods = source->methods;

    if (!methods->tell_losses)
        return 0;
    if (cunei_recorder_is_on()) {
        methods->tell_losses(source);
        return 0;
    }
    int rc = methods->prepare(source, false);
    PyErr_Clear();
    return rc < 0 ? source->refusal : 0;
}
