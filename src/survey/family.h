// SPDX-License-Identifier: MIT
/* Which process of a survey started which. */
#ifndef CUNEI_SURVEY_FAMILY_H
#define CUNEI_SURVEY_FAMILY_H

#include <stddef.h>
#include <stdint.h>

#include "survey/survey.h"

/*
 * Fill in the parents: a forked process names the folder of its parent, another one is
 * the child of the process with its parent's number that lived when it started.  A
 * parent always stands before its children.  -ENOMEM.
 */
int cunei_family_find(struct cunei_survey *survey);

/* The children of each process, in the order of their start; SIZE_MAX: no more. */
struct cunei_family {
    size_t *first; /* owned: by parent; behind them, of those without one */
    size_t *next;  /* in `first`: by child */
};

int cunei_family_init(struct cunei_family *family, const struct cunei_survey *survey);
void cunei_family_fini(struct cunei_family *family);

/* The index of the parent, or the number of processes where there is none. */
size_t cunei_family_parent(const struct cunei_survey *survey, size_t process);

/*
 * Wall clock; the end is 0 while it runs, and never before the start.  So far it has
 * lasted `wall_ns`.
 */
uint64_t cunei_family_start_ns(const struct cunei_survey_process *process);
uint64_t cunei_family_end_ns(const struct cunei_survey_process *process);
uint64_t cunei_family_wall_ns(const struct cunei_survey_process *process);

#endif
