// SPDX-License-Identifier: MIT
/*
 * Functions that only wait: for a lock, a message, a process, a time.  A report shows
 * their self time apart from work.
 *
 * C functions are rarely recorded.  A wait is then self time of the function of the
 * standard library that calls the C function, so the table has both.
 */
#ifndef CUNEI_MODEL_FACTS_WAITING_FUNCTIONS_H
#define CUNEI_MODEL_FACTS_WAITING_FUNCTIONS_H

#include <stdbool.h>

struct cunei_function;

bool cunei_is_waiting_function(const struct cunei_function *function);

#endif
