// SPDX-License-Identifier: MIT
#include "probe/foreign.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "wire/reason.h"

/* By the library that it is in. */
static const struct {
    const char *library;
    int refusal;
} known[] = {
    {"pydevd_frame_evaluator", CUNEI_REASON_PYDEVD},
    {"libtorch_python", CUNEI_REASON_TORCH},
};

int cunei_foreign_refusal(const void *evaluator)
{
    Dl_info place;
    const char *name;

    if (dladdr(evaluator, &place) == 0 || !place.dli_fname)
        return 0;
    name = strrchr(place.dli_fname, '/');
    name = name ? name + 1 : place.dli_fname;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (strstr(name, known[i].library))
            return known[i].refusal;
    }
    return 0;
}
