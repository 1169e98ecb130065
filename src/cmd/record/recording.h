// SPDX-License-Identifier: MIT
/*
 * What `cunei record` and `cunei run` share: the options of a recording, and a program
 * run with them.
 *
 *     struct cunei_recording_values values = CUNEI_RECORDING_VALUES_DEFAULTS;
 *     struct cunei_recording recording = {0};
 *     int status = cunei_recording_prepare(&recording, &values, argc, argv);
 *     if (status == 0)
 *         recording.directory = …;
 *         status = cunei_recording_run(&recording, &values);
 *     …
 *     cunei_recording_fini(&recording);
 *     cunei_recording_values_fini(&values);
 */
#ifndef CUNEI_CMD_RECORD_RECORDING_H
#define CUNEI_CMD_RECORD_RECORDING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/pattern.h"
#include "cmd/common/options.h"
#include "cmd/record/config.h"
#include "cmd/record/launch.h"
#include "cmd/record/program.h"
#include "cmd/record/version_limits.h"
#include "wire/record_env.h"

/* How --repr says that values are written, in the order of its choices. */
enum cunei_recording_repr {
    CUNEI_RECORDING_REPR_SAFE,
    CUNEI_RECORDING_REPR_FULL,
};

struct cunei_recording_values {
    const char *python; /* borrowed: or NULL */
    uint64_t max_bytes; /* 0: no limit */
    const char *budget; /* borrowed: as it was typed, or NULL */
    struct cunei_patterns patterns;
    struct cunei_patterns arguments; /* functions whose arguments are recorded */
    struct cunei_patterns results;   /* functions whose results are */
    struct cunei_patterns lines;     /* functions whose lines are */
    uint64_t max_repr;               /* bytes of a value's text */
    int repr;                        /* enum cunei_recording_repr */
    int instrumenter; /* of cunei_instrumenter_names; -1: the best that there is */
    bool c_calls;
    bool startup;
    bool no_children;
    bool force;
    bool quiet;
    bool no_config;
    struct cunei_config config; /* of the project; texts of it are borrowed */
};

#define CUNEI_RECORDING_VALUES_DEFAULTS                           \
    {                                                             \
        .max_repr = CUNEI_RECORD_ENV_MAX_REPR, .instrumenter = -1 \
    }

extern const struct cunei_option cunei_recording_options[];
void cunei_recording_values_fini(struct cunei_recording_values *values);

/* Whether numbers are in their bounds: CUNEI_OPTIONS_GO_ON, or the exit status. */
int cunei_recording_check(const struct cunei_recording_values *values);

struct cunei_recording {
    const struct cunei_recording_values *values; /* borrowed */
    struct cunei_program program;
    uint64_t frequency; /* of the clock */
    char *directory;    /* owned: absolute */
    char *shown;        /* owned: the directory as people named it */
    int told_minor;     /* of the Python whose limits were said; 0: not known yet */
    bool only_it;       /* and no process that it starts */
    int listener;       /* for processes that could not record; 0 or less: none */
    struct cunei_launch_end ended;
};

/*
 * What the values leave to the program, such as where its project is.  Returns
 * CUNEI_OPTIONS_GO_ON, or the exit status: why not was said.
 */
int cunei_recording_settle(struct cunei_recording_values *values, int argc,
                           char **argv);

/*
 * Find out, before anything is made or started, whether the program can be recorded,
 * and measure the clock meanwhile.  Returns 0, or the exit status: why not was said.
 */
int cunei_recording_prepare(struct cunei_recording *recording,
                            const struct cunei_recording_values *values, int argc,
                            char **argv);

/* Say in a line what of that such a Python gives in part only, if there is any. */
void cunei_recording_say_lacks(const struct cunei_recording_values *values,
                               const struct cunei_version_limits_version *version);

/* Run it, recording to `directory`.  Returns 0, or the exit status, as above. */
int cunei_recording_run(struct cunei_recording *recording,
                        const struct cunei_recording_values *values);
void cunei_recording_fini(struct cunei_recording *recording);

#endif
