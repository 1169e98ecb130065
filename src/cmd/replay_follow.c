// SPDX-License-Identifier: MIT
#include "cmd/replay_follow.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/units.h"
#include "cmd/common/follow_wait.h"
#include "cmd/common/message.h"
#include "cmd/common/open_trace.h"
#include "report/replay/replay_follow.h"
#include "report/replay/replay_options.h"
#include "trace/directory/trace.h"

/* A line is printed two of these after its event at the latest. */
#define INTERVAL_NS (100 * CUNEI_NS_PER_MS)

/* Take in all that is there, and print all of it. */
static int finish(struct cunei_replay_follow *follow)
{
    int rc;

    do
        rc = cunei_replay_follow_poll(follow);
    while (rc == 2);
    return rc < 0 ? rc : cunei_replay_follow_flush(follow);
}

static int follow_calls(struct cunei_replay_follow *follow, const char *path,
                        bool is_noted, FILE *out)
{
    for (;;) {
        int rc = cunei_replay_follow_poll(follow);
        if (rc <= 0)
            return rc;
        if (cunei_replay_follow_trace(follow)->process_count == 0 && !is_noted) {
            is_noted = true;
            cunei_cmd_note("waiting for a recording in '%s'", path);
        }
        switch (cunei_follow_wait(rc == 2 ? 0 : INTERVAL_NS, fileno(out))) {
        case CUNEI_FOLLOW_ASKED:
            return finish(follow);
        case CUNEI_FOLLOW_UNREAD:
            return 0;
        default:
            break;
        }
    }
}

static int note_end(const struct cunei_replay_follow *follow, const char *path,
                    const struct cunei_replay_options *wanted)
{
    const struct cunei_trace *trace = cunei_replay_follow_trace(follow);
    uint64_t missed = cunei_replay_follow_missed(follow);

    if (missed > 0)
        cunei_cmd_note("%" PRIu64 " packets of calls were overwritten before they were "
                       "read",
                       missed);
    if (trace->damage_count > 0)
        return cunei_cmd_fail(0, "%s; the rest is shown", trace->damages[0].error.text);
    if (!cunei_replay_follow_has_found(follow) &&
        (wanted->thread || wanted->processes.count > 0))
        return cunei_cmd_fail(0, "no such %s in '%s'",
                              wanted->thread ? "thread" : "process", path);
    return EXIT_SUCCESS;
}

int cunei_replay_follow_run(const char *path, const struct cunei_replay_options *wanted,
                            bool is_noted, FILE *out)
{
    struct cunei_replay_follow *follow = NULL;
    struct cunei_trace_error error;

    int rc = cunei_replay_follow_open(&follow, path, wanted, out, &error);
    if (rc < 0)
        return cunei_cmd_fail_to_open(rc, path, &error);
    cunei_follow_wait_begin();
    rc = follow_calls(follow, path, is_noted, out);
    int status = rc == 0        ? note_end(follow, path, wanted)
                 : rc == -EPIPE ? EXIT_SUCCESS
                                : cunei_cmd_fail(rc, "cannot follow '%s'", path);
    cunei_replay_follow_close(follow);
    return status;
}
