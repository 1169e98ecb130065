// SPDX-License-Identifier: MIT
/*
 * What a described process's command line asks a Python for.
 *
 *     struct cunei_words words = cunei_words_read(&process);
 *     if (words.script[0]) …
 */
#ifndef CUNEI_WIRE_WORDS_H
#define CUNEI_WIRE_WORDS_H

#include <stddef.h>

struct cunei_process;

/* All texts are borrowed from the process. */
struct cunei_words {
    const char *script; /* a file or directory; "": there is none */
    const char *module; /* of -m; NULL: there is none */
    const char *code;   /* of -c, "" where it is not known; NULL: there is none */
    size_t rest;        /* the first word behind them */
};

struct cunei_words cunei_words_read(const struct cunei_process *process);

/* The last part of a path. */
const char *cunei_words_base(const char *path);

#endif
