// SPDX-License-Identifier: MIT
/*
 * Which Python runs a program, and whether it can record: found out by asking it, once,
 * before the program starts.
 *
 *     struct cunei_interpreter python = {0};
 *     int rc = cunei_interpreter_ask(&python, "/usr/bin/python3", "-I", false);
 *     if (rc == 0 && !cunei_interpreter_can_record(&python, instrumenter, &reason))
 *         …
 *     cunei_interpreter_fini(&python);
 */
#ifndef CUNEI_CMD_RECORD_INTERPRETER_H
#define CUNEI_CMD_RECORD_INTERPRETER_H

#include <stdbool.h>

#include "base/buffer.h"
#include "python/instrumenter.h"

enum {
    CUNEI_INTERPRETER_MAJOR = 3, /* the oldest version that can record */
    CUNEI_INTERPRETER_MINOR = 8
};

/* The answers of a Python; texts are "" where it gave none. */
struct cunei_interpreter {
    char *path;           /* owned, as all that follow: as it was asked for */
    char *implementation; /* "cpython" */
    char *version;        /* "3.13.0" */
    char *executable;     /* its own idea of where it is */
    char *gil;            /* "yes", or "no" where it runs without one */
    char *tools;          /* ids of sys.monitoring in use, as "0 2" */
    char *cunei;          /* the version of cunei installed in it */
    char *package;        /* where that is */
    char *stdlib;         /* where its own modules are */
    char *boot;           /* "yes" where cunei's bootstrap ran, else "no" */
    char *error;          /* why cunei could not be loaded, or it did not answer */
    char *obstacles;      /* instrumenters with no place, as "profile 4004";
                             python/refusal_reason.h */
    int major;
    int minor;
    int patch;
};

/* The Python beside our own executable, even one that cannot be run; or NULL. */
char *cunei_interpreter_beside_us(void);

/*
 * Run the Python with a few lines of ours; without `again`, a Python that is as it was
 * gives the answer of last time (interpreter_cache.h) and is not run.  `flags` is one
 * word or "".  -ENOENT and
 * other errors of execve; -EPROTO: it ran and gave no answer, `error` has the first
 * line of its error output.
 */
int cunei_interpreter_ask(struct cunei_interpreter *python, const char *path,
                          const char *flags, bool again);

/* Whether other tools leave no place for it: why, of python/refusal_reason.h; 0: they
 * do. */
int cunei_interpreter_obstacle(const struct cunei_interpreter *python,
                               enum cunei_instrumenter instrumenter);

/*
 * Whether it can record by the instrumenter, which may be the default; if not `reason`
 * gets the sentence why, and what to do.
 */
bool cunei_interpreter_can_record(const struct cunei_interpreter *python,
                                  enum cunei_instrumenter instrumenter,
                                  struct cunei_buffer *reason);
void cunei_interpreter_fini(struct cunei_interpreter *python);

#endif
