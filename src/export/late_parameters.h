// SPDX-License-Identifier: MIT
/*
 * Parameters that the program gave to a call after other events in it.  They wait for
 * the end of the call, to be written with it.
 */
#ifndef CUNEI_EXPORT_LATE_PARAMETERS_H
#define CUNEI_EXPORT_LATE_PARAMETERS_H

#include <stddef.h>
#include <stdint.h>

struct cunei_user_value;

/* As many wait at a time; those beyond are written as events. */
#define CUNEI_LATE_MAX 64u

struct cunei_late_parameter {
    struct cunei_user_value *value; /* owned */
    uint64_t time;
    uint32_t inside; /* private: open calls of the same function inside that one */
};

struct cunei_late_parameters {
    struct cunei_late_parameter items[CUNEI_LATE_MAX];
    size_t count;
    struct cunei_user_value *ended[CUNEI_LATE_MAX]; /* owned: of the last end */
};

/*
 * Copy a parameter.  `*out` becomes the one that must give way, to be written as an
 * event and freed: an earlier value of the same name, or the oldest if there is no
 * room.  Its value is NULL if none must.  -ENOMEM.
 */
int cunei_late_parameters_add(struct cunei_late_parameters *late,
                              const struct cunei_user_value *value, uint64_t time,
                              struct cunei_late_parameter *out);

/* A call of a function begins.  It ends: returns how many of `ended` waited for it. */
void cunei_late_parameters_begin(struct cunei_late_parameters *late, uint32_t function);
size_t cunei_late_parameters_end(struct cunei_late_parameters *late, uint32_t function);
void cunei_late_parameters_free_ended(struct cunei_late_parameters *late, size_t count);

/* Remove and return the oldest. */
struct cunei_late_parameter cunei_late_parameters_pop(
    struct cunei_late_parameters *late);

void cunei_late_parameters_fini(struct cunei_late_parameters *late);

#endif
