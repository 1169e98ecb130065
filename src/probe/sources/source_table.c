// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/sources/source_table.h"

#include "probe/sources/evaluator/evaluator.h"
#include "probe/sources/hooks/hook.h"
#include "probe/sources/monitoring/monitoring.h"
#include "probe/sources/none.h"

/* The default is the first: others may use it. */
static const struct cunei_source_kind *const kinds[] = {
#if PY_VERSION_HEX >= 0x030c0000
    &cunei_source_monitoring,
#else
    &cunei_source_frame,
#endif
    &cunei_source_profile,
    &cunei_source_trace,
    &cunei_source_none,
};

int cunei_source_table_open(PyObject *module, const struct cunei_source_setup *setup,
                            cunei_source_table sources)
{
    struct cunei_source_setup whole = *setup;

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        const struct cunei_source_kind *kind = kinds[i];
        struct cunei_source *source = kind->open(module, &whole);
        if (!source)
            return -1;
        source->kind = kind;
        source->methods = kind->methods;
        sources[kind->instrumenter] = source;
        if (!whole.default_source)
            whole.default_source = source;
    }
    return 0;
}

int cunei_source_table_traverse(cunei_source_table sources, visitproc visit, void *arg)
{
    int rc = 0;

    for (int i = 0; i < CUNEI_INSTRUMENTERS && rc == 0; i++) {
        if (sources[i] && sources[i]->kind->traverse)
            rc = sources[i]->kind->traverse(sources[i], visit, arg);
    }
    return rc;
}

void cunei_source_table_clear(cunei_source_table sources)
{
    for (int i = 0; i < CUNEI_INSTRUMENTERS; i++) {
        if (sources[i] && sources[i]->kind->clear)
            sources[i]->kind->clear(sources[i]);
    }
}

void cunei_source_table_free(cunei_source_table sources)
{
    for (int i = 0; i < CUNEI_INSTRUMENTERS; i++) {
        if (sources[i] && sources[i]->kind->free)
            sources[i]->kind->free(sources[i]);
        sources[i] = NULL;
    }
}
