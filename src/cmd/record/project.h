// SPDX-License-Identifier: MIT
/*
 * The project of a program: the folder that the script belongs to.
 *
 * It is looked for upward from the script's folder: the first with one of
 * pyproject.toml, setup.py, setup.cfg, .git or .hg in it, or else the script's folder
 * itself.  Of -m, -c and commands (pytest, anything in a folder bin) the current folder
 * takes the script's place.
 */
#ifndef CUNEI_CMD_RECORD_PROJECT_H
#define CUNEI_CMD_RECORD_PROJECT_H

struct cunei_patterns;

/* Where the search starts, absolute and without links; owned by the caller.  NULL:
 * there is no such folder. */
char *cunei_project_start(int argc, char **argv);

/* The project's folder of these words; owned, NULL: there is none. */
char *cunei_project_find(int argc, char **argv);

/*
 * --only-project has left a pattern without a folder in the list: put that of this
 * folder first, wherever the option was.  Later patterns add to it or exclude from it.
 * 0, or a negative errno.
 */
int cunei_project_settle(struct cunei_patterns *patterns, const char *root);

#endif
