// SPDX-License-Identifier: MIT
/*
 * Restores the terminal when a signal ends the process: private to terminal.c.
 *
 *     cunei_top_signals_watch(fd, sequence, size);
 *     … cunei_top_signals_pending() …
 *     cunei_top_signals_forget();
 */
#ifndef CUNEI_TOP_TERMINAL_TERMINAL_SIGNALS_H
#define CUNEI_TOP_TERMINAL_TERMINAL_SIGNALS_H

#include <stddef.h>

/* Before the terminal `fd` is changed: its modes as they are now are restored, and
 * signals are noted from now on.  Negative errno. */
int cunei_top_signals_watch(int fd);

/* What to write to the terminal, at most 255 bytes, when it is restored. */
void cunei_top_signals_set_sequence(const char *sequence);
void cunei_top_signals_forget(void);

/* Readable when a signal came. */
int cunei_top_signals_fd(void);

/* The first one that asks us to end; 0: none. */
int cunei_top_signals_pending(void);

#endif
