// SPDX-License-Identifier: MIT
/*
 * The answers of Pythons, remembered in $XDG_CACHE_HOME/cunei, so that `cunei record`
 * starts one Python and not two.
 *
 * An answer is kept with the question, and with the state of every file that Python
 * read or looked for until it answered: its executable, libraries and modules,
 * pyvenv.cfg, the folders of sys.path and the .pth files in them.  It is used only if
 * the question is the same and each file is as it was.  Whatever is wrong with the
 * cache, Python is asked.
 */
#ifndef CUNEI_CMD_RECORD_INTERPRETER_CACHE_H
#define CUNEI_CMD_RECORD_INTERPRETER_CACHE_H

#include <time.h>

/* What is asked; an answer is valid for the same working directory. */
struct cunei_interpreter_question {
    const char *path;
    const char *flags;
    const char *program;      /* that the Python runs */
    char *const *environment; /* that it runs in */
};

/* The answer as Python gave it, owned by the caller, with further lines; NULL: none. */
char *cunei_interpreter_cache_read(const struct cunei_interpreter_question *question);

/*
 * Remember an answer, if it names the files that it depends on and none of them has
 * changed since shortly before `asked`.
 */
void cunei_interpreter_cache_write(const struct cunei_interpreter_question *question,
                                   const char *answer, const struct timespec *asked);

#endif
