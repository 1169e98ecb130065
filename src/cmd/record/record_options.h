// SPDX-License-Identifier: MIT
/*
 * The options of a recording, which `cunei record` and `cunei run` share.
 *
 *     struct cunei_record_options options = CUNEI_RECORD_OPTIONS_DEFAULTS;
 *     … parse the command line with cunei_record_option_rows …
 *     status = cunei_record_options_check(&options);
 *     …
 *     cunei_record_options_fini(&options);
 */
#ifndef CUNEI_CMD_RECORD_RECORD_OPTIONS_H
#define CUNEI_CMD_RECORD_RECORD_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/pattern.h"
#include "cmd/common/options.h"
#include "python/incompatibility.h"
#include "wire/record_env.h"

/* The choices of --repr, in their order. */
enum cunei_repr_choice {
    CUNEI_REPR_SAFE,
    CUNEI_REPR_FULL,
};

struct cunei_record_options {
    const char *python; /* borrowed: or NULL */
    uint64_t max_bytes; /* 0: no limit */
    const char *budget; /* borrowed: as it was typed, or NULL */
    const char *keep;   /* the same */
    struct cunei_patterns patterns;
    struct cunei_patterns arguments; /* functions whose arguments are recorded */
    struct cunei_patterns results;   /* functions whose results are recorded */
    struct cunei_patterns lines;     /* functions whose lines are recorded */
    uint64_t max_repr;               /* bytes of a value's text */
    int repr;                        /* enum cunei_repr_choice */
    int instrumenter; /* index in cunei_instrumenter_names; -1: the default */
    bool c_calls;
    bool startup;
    bool control; /* take requests of 'cunei attach' */
    bool no_children;
    bool force;
    bool quiet;
    bool no_config;
    uint64_t typed; /* bits of cunei_record_option_rows */
};

#define CUNEI_RECORD_OPTIONS_DEFAULTS                             \
    {                                                             \
        .max_repr = CUNEI_RECORD_ENV_MAX_REPR, .instrumenter = -1 \
    }

extern const struct cunei_option cunei_record_option_rows[];

/* Those that make sense for a program that runs already. */
const struct cunei_option *cunei_record_option_rows_of_running(void);
void cunei_record_options_fini(struct cunei_record_options *options);

/* Whether numbers are in their bounds: CUNEI_OPTIONS_CONTINUE, or the exit status. */
int cunei_record_options_check(const struct cunei_record_options *options);

/* What --keep asks for; zeros: everything is kept. */
struct cunei_keep cunei_record_options_keep(const struct cunei_record_options *options);

enum cunei_instrumenter cunei_record_options_instrumenter(
    const struct cunei_record_options *options);

/* What the options ask of the Python that runs the program. */
struct cunei_request cunei_record_options_request(
    const struct cunei_record_options *options);

#endif
