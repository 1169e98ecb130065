// SPDX-License-Identifier: MIT
/* The arguments of a call, collected from the events behind its start. */
#ifndef CUNEI_EXPORT_CALL_ARGUMENTS_H
#define CUNEI_EXPORT_CALL_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>

struct cunei_argument;
struct cunei_user_value;

/* An argument or a result of a call, or a parameter of it; borrowed from its event. */
struct cunei_value {
    const char *name; /* of an argument; no NUL behind it */
    size_t name_size;
    const char *text; /* the same */
    size_t size;
};

/* Numbers among the parameters become texts; those beyond are written as events. */
#define CUNEI_CALL_NUMBERS     8u
#define CUNEI_CALL_NUMBER_SIZE 32u

struct cunei_call_arguments {
    struct cunei_value *items; /* owned */
    size_t count, capacity;
    char numbers[CUNEI_CALL_NUMBERS][CUNEI_CALL_NUMBER_SIZE]; /* private, as the next */
    size_t number_count;
};

struct cunei_value cunei_value_of_argument(const struct cunei_argument *argument);

/* -ENOMEM. */
int cunei_call_arguments_add(struct cunei_call_arguments *arguments,
                             struct cunei_value value);

/* The same with a parameter; false: no room for another number. */
bool cunei_call_arguments_add_parameter(struct cunei_call_arguments *arguments,
                                        const struct cunei_user_value *parameter,
                                        int *rc);

static inline void cunei_call_arguments_clear(struct cunei_call_arguments *arguments)
{
    arguments->count = arguments->number_count = 0;
}

void cunei_call_arguments_fini(struct cunei_call_arguments *arguments);

#endif
