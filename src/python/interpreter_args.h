// SPDX-License-Identifier: MIT
/* A Python's command line, read as Python reads it. */
#ifndef CUNEI_PYTHON_INTERPRETER_ARGS_H
#define CUNEI_PYTHON_INTERPRETER_ARGS_H

#include <stdbool.h>

/* Whether a program's file name is a Python's: python, python3, python3.13t. */
bool cunei_python_is_named(const char *path);

/*
 * The arguments of a Python command line that stand before the program: how many, where
 * the program is, and the flags that decide what is installed in it.
 */
struct cunei_interpreter_args {
    int program;    /* index of the script, of the word behind -m or -c; 0: none */
    char kind;      /* 'm', 'c', or 0 for a script */
    bool no_site;   /* -S */
    char flags[16]; /* of -E -I -P -s those that are there, as "-Es"; or "" */
    bool prints_and_exits; /* --help or --version: nothing will run */
};

struct cunei_interpreter_args cunei_interpreter_args_parse(int argc, char **argv);

#endif
