// SPDX-License-Identifier: MIT
/*
 * A program that is run and recorded, for `cunei record` and `cunei run`.
 *
 *     struct cunei_recorded_run run = {0};
 *     status = cunei_recorded_run_configure(&run, &options, argc, argv);
 *     if (status == CUNEI_OPTIONS_CONTINUE)
 *         status = cunei_recorded_run_prepare(&run, argc, argv);
 *     if (status == 0)
 *         run.directory = …;
 *         status = cunei_recorded_run_execute(&run);
 *     …
 *     cunei_recorded_run_fini(&run);
 */
#ifndef CUNEI_CMD_RECORD_RECORDED_RUN_H
#define CUNEI_CMD_RECORD_RECORDED_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/safe_open.h"
#include "cmd/record/config.h"
#include "cmd/record/interpreter.h"
#include "cmd/record/launch.h"
#include "cmd/record/program.h"
#include "wire/record_env.h"

struct cunei_clock_pair;
struct cunei_python_version;
struct cunei_record_options;
struct cunei_trigger_follower;
struct cunei_trigger_options;

struct cunei_recorded_run {
    const struct cunei_record_options *options; /* borrowed */
    struct cunei_config config; /* the project's; `options` borrows texts of it */
    struct cunei_program program;
    struct cunei_interpreter python;   /* that runs the program; empty: not known */
    uint64_t frequency;                /* of the clock */
    char *project;                     /* owned: its folder; NULL: not known */
    char *directory;                   /* owned: absolute */
    struct cunei_file_id directory_id; /* by which it is recognized */
    bool directory_existed;            /* before, so it is not removed */
    char *shown;                       /* owned: the directory as the user named it */
    int listener;    /* receives why processes could not record; 0 or less: none */
    uint64_t secret; /* that their messages carry */
    const struct cunei_trigger_options *triggers; /* borrowed: or NULL */
    struct cunei_trigger_follower *follower;      /* owned: looks for them */
    struct cunei_launch_end ended;
};

/*
 * Complete the options with what the program's project sets.  Returns
 * CUNEI_OPTIONS_CONTINUE, or the exit status after an error message.
 */
int cunei_recorded_run_configure(struct cunei_recorded_run *run,
                                 struct cunei_record_options *options, int argc,
                                 char **argv);

/*
 * Find out, before anything is created or started, whether the program can be recorded,
 * and measure the clock meanwhile.  Returns 0, or the exit status after an error
 * message.
 */
int cunei_recorded_run_prepare(struct cunei_recorded_run *run, int argc, char **argv);

/*
 * Ticks per second since `first`, over as much more time as it takes to know them well
 * enough.
 */
uint64_t cunei_recorded_run_frequency(const struct cunei_clock_pair *first);

/* What CUNEI_RECORD tells the program; all of it is borrowed from `run`. */
struct cunei_record_env cunei_recorded_run_env(const struct cunei_recorded_run *run);

/* Whether there is room for the ring of one process; the others ask themselves.
 * Returns 0, or the exit status after an error message. */
int cunei_recorded_run_check_ring(const struct cunei_recorded_run *run);

/* Print a note on what such a Python cannot record of what the options ask for. */
void cunei_recorded_run_note_limits(const struct cunei_recorded_run *run,
                                    const struct cunei_python_version *version);

/* Run it, recording to `directory`.  Returns 0, or the exit status, as above. */
int cunei_recorded_run_execute(struct cunei_recorded_run *run);
void cunei_recorded_run_fini(struct cunei_recorded_run *run);

#endif
