// SPDX-License-Identifier: MIT
/* The table of the kinds of triggers, in the order of the help. */
#include <stddef.h>

#include "trigger/kind.h"

const struct cunei_trigger_kind *const cunei_trigger_kinds[] = {
    &cunei_trigger_kind_exception,
    &cunei_trigger_kind_slow,
    &cunei_trigger_kind_lag,
    &cunei_trigger_kind_mark,
    &cunei_trigger_kind_exit,
    &cunei_trigger_kind_crash,
    NULL,
};
