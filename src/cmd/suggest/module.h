// SPDX-License-Identifier: MIT
/* Modules that a program could import: for names that were mistyped. */
#ifndef CUNEI_CMD_SUGGEST_MODULE_H
#define CUNEI_CMD_SUGGEST_MODULE_H

struct cunei_program;

/*
 * The module whose name is a slip of the finger away from `word`, of those that lie
 * beside the program or belong to its Python; owned, NULL: there is none, or it is
 * `word` itself.
 */
char *cunei_suggest_module(const struct cunei_program *program, const char *word);

#endif
