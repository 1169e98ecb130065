// SPDX-License-Identifier: MIT
/* `cunei recover`: repair a trace whose processes were killed. */
#include "trace/recovery/recover.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/common/open_trace.h"
#include "cmd/common/options.h"
#include "trace/directory/open_options.h"
#include "trace/directory/process_folder.h"
#include "trace/directory/trace.h"

struct values {
    bool force;
};

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static void print_repaired(const struct cunei_trace_recovery *recovery)
{
    printf("%" PRIu64 " packet%s (%" PRIu64 " bytes) appended", recovery->packets,
           plural(recovery->packets), recovery->bytes);
    if (recovery->cut_bytes)
        printf(", %" PRIu64 " incomplete byte%s removed", recovery->cut_bytes,
               plural(recovery->cut_bytes));
    if (recovery->damaged)
        printf(", %" PRIu64 " damaged packet%s kept in part", recovery->damaged,
               plural(recovery->damaged));
    if (recovery->is_clock_changed)
        printf(", clock corrected");
    printf("\n");
}

static void print_outcome(const struct cunei_trace_process *process,
                          const struct cunei_trace_recovery *recovery)
{
    struct cunei_buffer path = {0}, host = {0};

    cunei_text_show(&path, process->path, strlen(process->path));
    cunei_text_show(&host, process->metadata.host, strlen(process->metadata.host));
    printf("%s: ", cunei_buffer_text(&path));
    switch (recovery->outcome) {
    case CUNEI_RECOVER_NOTHING:
        printf("complete, nothing to do\n");
        break;
    case CUNEI_RECOVER_RUNNING:
        printf("still running, not changed\n");
        break;
    case CUNEI_RECOVER_ELSEWHERE:
        printf(
            "recorded on %s, where it may still run, not changed; --force repairs it "
            "anyway\n",
            cunei_buffer_text(&host));
        break;
    case CUNEI_RECOVER_DONE:
        print_repaired(recovery);
        break;
    case CUNEI_RECOVER_FOREIGN: /* an error */
        break;
    }
    cunei_buffer_fini(&path);
    cunei_buffer_fini(&host);
}

/* An error is printed for each process; the others are repaired. */
static int recover_all(const struct cunei_trace *trace, const struct values *values)
{
    struct cunei_trace_recover_options options;
    int status = EXIT_SUCCESS;

    cunei_cmd_recover_options_init(&options);
    options.elsewhere = values->force;
    for (size_t i = 0; i < trace->process_count; i++) {
        struct cunei_trace_recovery recovery;
        struct cunei_trace_error error;
        int rc =
            cunei_trace_recover(trace->processes[i].path, &options, &recovery, &error);
        if (rc == 0 && recovery.outcome == CUNEI_RECOVER_FOREIGN)
            status = cunei_cmd_fail(0,
                                    "cannot repair '%s': it belongs to another user, "
                                    "who can repair it; other commands read it as it "
                                    "is",
                                    trace->processes[i].path);
        else if (rc == 0)
            print_outcome(&trace->processes[i], &recovery);
        else
            status = cunei_cmd_fail(
                0, "cannot repair '%s': %s%s%s; other commands read it as it is",
                trace->processes[i].path, error.text, rc == -EBADMSG ? "" : ": ",
                rc == -EBADMSG ? "" : strerror(-rc));
    }
    cunei_cmd_recover_options_fini(&options);
    return status;
}

static int run_recover(int argc, char **argv)
{
    struct values values = {0};
    struct cunei_trace trace;
    struct cunei_trace_error error;

    int status = cunei_options_parse(&cunei_cmd_recover, &argc, argv, &values);
    if (status != CUNEI_OPTIONS_CONTINUE)
        return status;
    status = cunei_options_directory(&cunei_cmd_recover, argc, argv);
    if (status != CUNEI_OPTIONS_CONTINUE)
        return status;
    const struct cunei_trace_open_options opening = {.without_ring = true};
    int rc = cunei_trace_open_with(&trace, argv[1], &opening, &error);
    if (rc < 0)
        return cunei_cmd_fail_to_open(rc, argv[1], &error);
    status = recover_all(&trace, &values);
    if (status == EXIT_SUCCESS && trace.damage_count > 0)
        status =
            cunei_cmd_fail(0, "%s; the rest is recovered", trace.damages[0].error.text);
    cunei_trace_close(&trace);
    return status;
}

static const struct cunei_option options[] = {
    {.name = "force",
     .kind = CUNEI_OPTION_FLAG,
     .help = "also repair processes from another machine (they must\n"
             "have ended)",
     .offset = offsetof(struct values, force)},
    {0},
};

const struct cunei_cmd cunei_cmd_recover = {
    .name = "recover",
    .args = "[options] DIR",
    .summary = "repair a trace after a crash",
    .help =
        "Repairs a trace whose processes were killed: appends to the files what was\n"
        "recorded but not yet written, and removes half-written data. The other commands\n"
        "of cunei do this by themselves; babeltrace2 and Trace Compass need it.\n"
        "Processes that are still running are not changed.\n"
        "\n"
        "  cunei recover DIR && babeltrace2 DIR",
    .options = options,
    .run = run_recover,
};
