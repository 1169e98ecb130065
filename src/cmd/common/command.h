// SPDX-License-Identifier: MIT
/* A subcommand, as the table in main.c lists it. */
#ifndef CUNEI_CMD_COMMON_COMMAND_H
#define CUNEI_CMD_COMMON_COMMAND_H

#include <stdbool.h>

struct cunei_option;

struct cunei_cmd {
    const char *name;
    const char *args;                   /* as the usage line shows them */
    const char *summary;                /* one line, no full stop */
    const char *help;                   /* the help text, with examples */
    const struct cunei_option *options; /* ends with an empty row; or NULL */
    bool takes_program; /* the first word that is not an option, -m or -c begins a
                           program, and the rest belongs to the program; such a command
                           handles SIGPIPE itself */
    int (*run)(int argc, char **argv); /* argv[0] is the name; returns an exit status */
};

#endif
