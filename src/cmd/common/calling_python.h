// SPDX-License-Identifier: MIT
/* The Python that started us as `python -m cunei`, and its options. */
#ifndef CUNEI_CMD_COMMON_CALLING_PYTHON_H
#define CUNEI_CMD_COMMON_CALLING_PYTHON_H

/* Read the arguments that `python -m cunei` puts first; returns how many there are. */
int cunei_calling_python_read(char **argv);

/* The path of that Python; NULL: we were started directly. */
const char *cunei_calling_python(void);

/* The options that Python itself was started with, such as `-X dev`; returns how many
 * words there are. */
int cunei_calling_python_words(char ***words);

#endif
