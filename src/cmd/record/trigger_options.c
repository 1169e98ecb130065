// SPDX-License-Identifier: MIT
#include "cmd/record/trigger_options.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "cmd/common/message.h"
#include "cmd/record/record_options.h"
#include "trigger/kind.h"
#include "wire/event_class.h"

#define VALUE(field) .offset = offsetof(struct cunei_trigger_options, field)

const struct cunei_option cunei_trigger_option_rows[] = {
    {.name = "trigger",
     .kind = CUNEI_OPTION_LIST,
     .value = "WHEN",
     .help = "when to make a snapshot: exception:TYPE,\n"
             "slow:PATTERN>50ms, lag>100ms (an asyncio event\n"
             "loop), mark:NAME, exit!=0, crash; may be repeated",
     VALUE(texts)},
    {0},
};

const struct cunei_option cunei_trigger_option_limits[] = {
    {.name = "snapshot-interval",
     .kind = CUNEI_OPTION_DURATION,
     .value = "TIME",
     .help = "the least time between two snapshots\n"
             "(default 1min)",
     VALUE(limits.interval_ns)},
    {.name = "snapshot-count",
     .kind = CUNEI_OPTION_NUMBER,
     .value = "N",
     .help = "make at most N snapshots (default 10; 0: no limit)",
     VALUE(limits.count)},
    {.name = "snapshot-space",
     .kind = CUNEI_OPTION_SIZE,
     .value = "SIZE",
     .help = "bytes that all snapshots may take together\n"
             "(default 2G; 0: no limit)",
     VALUE(limits.bytes)},
    {.name = "snapshot-dir",
     .kind = CUNEI_OPTION_TEXT,
     .value = "DIR",
     .help = "directory for the snapshots (default: beside the\n"
             "recording)",
     VALUE(directory)},
    {.kind = CUNEI_OPTION_TYPED, VALUE(typed)},
    {0},
};

int cunei_trigger_options_check(struct cunei_trigger_options *options)
{
    struct cunei_buffer reason = {0};
    int status = CUNEI_OPTIONS_CONTINUE;

    for (size_t i = 0; status == CUNEI_OPTIONS_CONTINUE && i < options->texts.count;
         i++) {
        int rc =
            cunei_triggers_add(&options->triggers, options->texts.items[i], &reason);
        if (rc == -EINVAL)
            status = cunei_cmd_usage("%s", cunei_buffer_text(&reason));
        else if (rc < 0)
            status =
                cunei_cmd_fail(rc, "cannot watch for '%s'", options->texts.items[i]);
    }
    cunei_buffer_fini(&reason);
    if (status == CUNEI_OPTIONS_CONTINUE && options->directory && !*options->directory)
        status = cunei_cmd_usage("--snapshot-dir needs the name of a directory");
    return status;
}

int cunei_trigger_options_check_instrumenter(
    const struct cunei_trigger_options *options, enum cunei_instrumenter instrumenter)
{
    for (size_t i = 0; i < options->triggers.count; i++) {
        const struct cunei_trigger *trigger = &options->triggers.items[i];
        bool is_of_calls = trigger->kind->call || trigger->kind->busy;
        bool is_of_exceptions = trigger->kind->event_class == CUNEI_CLASS_EXCEPTION;
        if ((instrumenter == CUNEI_INSTRUMENTER_NONE &&
             (is_of_calls || is_of_exceptions)) ||
            (instrumenter == CUNEI_INSTRUMENTER_PROFILE && is_of_exceptions))
            return cunei_cmd_usage("--trigger %s cannot fire with --instrumenter %s, "
                                   "which records no %s; use only one of them",
                                   trigger->text, cunei_instrumenter_name(instrumenter),
                                   is_of_calls ? "calls" : "exceptions");
    }
    return CUNEI_OPTIONS_CONTINUE;
}

int cunei_trigger_options_check_recording(struct cunei_trigger_options *options,
                                          const struct cunei_record_options *recording)
{
    int status = cunei_trigger_options_check(options);

    if (status != CUNEI_OPTIONS_CONTINUE)
        return status;
    if (options->texts.count == 0 && options->typed)
        return cunei_cmd_usage("--snapshot-dir and the limits of snapshots need "
                               "--trigger, for example --trigger crash");
    if (options->texts.count > 0 && !recording->keep)
        return cunei_cmd_usage("--trigger needs --keep: a snapshot has the last part "
                               "of a recording; use --keep 30s, for example");
    return cunei_trigger_options_check_instrumenter(
        options, cunei_record_options_instrumenter(recording));
}

int cunei_trigger_options_prepare(const struct cunei_trigger_options *options)
{
    const char *path = options->directory;
    struct stat status;

    if (!path)
        return EXIT_SUCCESS;
    int rc = mkdir(path, 0700) < 0 && errno != EEXIST ? -errno : 0;
    if (rc == 0 && stat(path, &status) < 0)
        rc = -errno;
    if (rc == 0 && !S_ISDIR(status.st_mode))
        rc = -ENOTDIR;
    if (rc == 0 && access(path, W_OK | X_OK) < 0)
        rc = -errno;
    if (rc == 0)
        return EXIT_SUCCESS;
    return cunei_cmd_fail(0,
                          "cannot make snapshots in '%s': %s; choose another directory "
                          "with --snapshot-dir",
                          path, strerror(-rc));
}

void cunei_trigger_options_fini(struct cunei_trigger_options *options)
{
    cunei_triggers_fini(&options->triggers);
    cunei_option_list_fini(&options->texts);
}
