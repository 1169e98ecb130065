// SPDX-License-Identifier: MIT
/*
 * A source that tells of no function: a recording has the process and what else is
 * heard of, and nothing that the program calls pays for it.
 *
 * Only that __main__ begins has to be heard of, which the Python's own source tells.
 */
#ifndef CUNEI_PROBE_SILENCE_H
#define CUNEI_PROBE_SILENCE_H

#include "probe/source.h"

/* `waiter` is borrowed: it lives as long as the process. */
struct cunei_source *cunei_silence_open(struct cunei_source *waiter);

#endif
