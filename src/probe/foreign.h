// SPDX-License-Identifier: MIT
/*
 * Evaluators of frames that others have installed, before CPython 3.12.  Most can be
 * handed on to; some run other code than the frame's, and do not bear one above them.
 */
#ifndef CUNEI_PROBE_FOREIGN_H
#define CUNEI_PROBE_FOREIGN_H

#include <Python.h>

#include "probe/compat.h"

/* Why there can be none above it, see wire/reason.h; 0: there can. */
int cunei_foreign_refusal(cunei_older_evaluator evaluator);

#endif
