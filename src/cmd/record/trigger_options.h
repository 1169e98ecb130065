// SPDX-License-Identifier: MIT
/*
 * --trigger, and the options of the snapshots that triggers make; for `cunei record`,
 * `cunei watch` and `cunei try-trigger`.
 */
#ifndef CUNEI_CMD_RECORD_TRIGGER_OPTIONS_H
#define CUNEI_CMD_RECORD_TRIGGER_OPTIONS_H

#include "cmd/common/options.h"
#include "python/instrumenter.h"
#include "trigger/limits.h"
#include "trigger/triggers.h"

struct cunei_record_options;

struct cunei_trigger_options {
    struct cunei_option_list texts;
    struct cunei_triggers triggers; /* parsed from them */
    const char *directory;          /* borrowed: of the snapshots; NULL: the default */
    struct cunei_snapshot_limits limits;
    uint64_t typed; /* bits of cunei_trigger_option_limits */
};

#define CUNEI_TRIGGER_OPTIONS_DEFAULTS            \
    {                                             \
        .limits = CUNEI_SNAPSHOT_LIMITS_DEFAULTS, \
    }

/* The rows of --trigger; of the limits in time and number; of place and space.  Offsets
 * are those of the struct. */
extern const struct cunei_option cunei_trigger_option_rows[];
extern const struct cunei_option cunei_trigger_option_limits[];

/* Parse the triggers: CUNEI_OPTIONS_CONTINUE, or the exit status after a message. */
int cunei_trigger_options_check(struct cunei_trigger_options *options);

/* Whether the hook records what they look at; returns as above. */
int cunei_trigger_options_check_instrumenter(
    const struct cunei_trigger_options *options, enum cunei_instrumenter instrumenter);

/* All of this for a recording, once the project's defaults are known, which may have
 * --keep; returns as above. */
int cunei_trigger_options_check_recording(struct cunei_trigger_options *options,
                                          const struct cunei_record_options *recording);

/* Make the directory of the snapshots, before anything is started: 0, or the exit
 * status after a message. */
int cunei_trigger_options_prepare(const struct cunei_trigger_options *options);
void cunei_trigger_options_fini(struct cunei_trigger_options *options);

#endif
