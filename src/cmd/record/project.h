// SPDX-License-Identifier: MIT
/*
 * Whose program it is: the folder that a script belongs to.
 *
 * It is looked for upward from the script's folder: the first with one of
 * pyproject.toml, setup.py, setup.cfg, .git or .hg in it, or else the script's folder
 * itself.  Of -m, -c and commands (pytest, anything in a folder bin) the current folder
 * takes the script's place.
 */
#ifndef CUNEI_CMD_RECORD_PROJECT_H
#define CUNEI_CMD_RECORD_PROJECT_H

struct cunei_patterns;

/* Where to look from, absolute and without links; owned, NULL: there is no such. */
char *cunei_project_start(int argc, char **argv);

/* The project's folder; owned, NULL: no memory. */
char *cunei_project_root(const char *start);

/*
 * --only-project has left a pattern without a folder in the list: put the one of this
 * program at its beginning, wherever that was.  What is no include or exclude of its
 * own is left out then.  0, or a negative errno.
 */
int cunei_project_settle(struct cunei_patterns *patterns, int argc, char **argv);

#endif
