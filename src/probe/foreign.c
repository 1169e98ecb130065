// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/foreign.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* By the library that it is in. */
static const struct {
    const char *library;
    const char *refusal;
} known[] = {
    {"pydevd_frame_evaluator",
     "the debugger (pydevd) evaluates frames itself; set PYDEVD_USE_FRAME_EVAL=NO in "
     "the environment, and it debugs by tracing, beside which cunei records"},
    {"libtorch_python",
     "torch.compile (torch.dynamo) evaluates frames itself; set TORCHDYNAMO_DISABLE=1 "
     "in the environment, or start recording before anything is compiled"},
};

const char *cunei_foreign_refusal(cunei_older_evaluator evaluator)
{
    Dl_info place;
    const char *name;

    if (dladdr((const void *)(uintptr_t)evaluator, &place) == 0 || !place.dli_fname)
        return NULL;
    name = strrchr(place.dli_fname, '/');
    name = name ? name + 1 : place.dli_fname;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (strstr(name, known[i].library))
            return known[i].refusal;
    }
    return NULL;
}
