// SPDX-License-Identifier: MIT
#include "cmd/common/open_trace.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cmd/common/message.h"
#include "python/refusals.h"
#include "rt/refusal.h"
#include "trace/directory/open_options.h"
#include "trace/directory/process_choice.h"
#include "trace/directory/process_folder.h"
#include "trace/directory/trace.h"
#include "trace/recovery/clock_correction.h"
#include "trace/recovery/recover.h"

void cunei_cmd_recover_options_init(struct cunei_trace_recover_options *options)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    char *path = NULL;

    *options = (struct cunei_trace_recover_options){0};
    if (asprintf(&path, "/dev/shm/cunei-%u", (unsigned)geteuid()) >= 0)
        options->pointers[0] = path;
    if (runtime && runtime[0] == '/' && asprintf(&path, "%s/cunei", runtime) >= 0)
        options->pointers[1] = path;
}

void cunei_cmd_recover_options_fini(struct cunei_trace_recover_options *options)
{
    for (size_t i = 0; i < 2; i++) {
        free(options->pointers[i]);
        options->pointers[i] = NULL;
    }
}

/* Where recovery fails (a read-only trace, another user's), the trace is read as it is.
 */
static bool recover(const struct cunei_trace *trace)
{
    struct cunei_trace_recover_options options;
    bool is_changed = false;

    cunei_cmd_recover_options_init(&options);
    for (size_t i = 0; i < trace->process_count; i++) {
        struct cunei_trace_recovery recovery;
        struct cunei_trace_error error;
        if (trace->processes[i].state == CUNEI_TRACE_RUNNING)
            continue;
        is_changed |= cunei_trace_recover(trace->processes[i].path, &options, &recovery,
                                          &error) == 0 &&
                      recovery.outcome == CUNEI_RECOVER_DONE;
    }
    cunei_cmd_recover_options_fini(&options);
    return is_changed;
}

static bool needs_recovery(const struct cunei_trace *trace)
{
    bool needs = false;

    for (size_t i = 0; i < trace->process_count; i++)
        needs |= trace->processes[i].state != CUNEI_TRACE_RUNNING &&
                 (trace->processes[i].state != CUNEI_TRACE_ENDED ||
                  trace->processes[i].has_live || trace->processes[i].has_ring);
    return needs;
}

static bool has_rings(const struct cunei_trace *trace)
{
    bool has = false;

    for (size_t i = 0; i < trace->process_count; i++)
        has |= trace->processes[i].has_ring;
    return has;
}

void cunei_cmd_allow_descriptors(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur == limit.rlim_max)
        return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

/* What recovery would write to the files of processes that it could not change. */
static void correct_clocks(struct cunei_trace *trace)
{
    for (size_t i = 0; i < trace->process_count; i++) {
        struct cunei_trace_process *process = &trace->processes[i];
        struct cunei_metadata corrected;
        bool was_cut_off = process->state != CUNEI_TRACE_ENDED &&
                           process->state != CUNEI_TRACE_RUNNING;
        if (was_cut_off && process->has_live &&
            cunei_trace_clock_correct(process, &corrected) > 0)
            process->metadata = corrected;
    }
}

int cunei_cmd_load_trace(const char *path, struct cunei_trace *trace,
                         struct cunei_trace_error *error)
{
    const struct cunei_trace_open_options without_rings = {.without_ring = true};

    cunei_cmd_allow_descriptors();
    int rc = cunei_trace_open_with(trace, path, &without_rings, error);
    if (rc < 0 || (!needs_recovery(trace) && !has_rings(trace)))
        return rc;
    if (recover(trace) || has_rings(trace)) {
        cunei_trace_close(trace);
        rc = cunei_trace_open(trace, path, error);
    }
    if (rc == 0)
        correct_clocks(trace);
    return rc;
}

int cunei_cmd_fail_to_open(int rc, const char *path,
                           const struct cunei_trace_error *error)
{
    static const char make[] = "'cunei record -o DIR PROGRAM' creates a trace";

    switch (-rc) {
    case ENOENT:
        return cunei_cmd_fail(0, "there is no trace '%s'; %s", path, make);
    case ENOTDIR:
        return cunei_cmd_fail(0, "'%s' is a file, but a trace is a directory; %s", path,
                              make);
    case ENODATA:
        return cunei_cmd_fail(0, "%s; %s", error->text, make);
    case EPROTO:
        return cunei_cmd_fail(0, "%s", error->text);
    case EBADMSG:
        return cunei_cmd_fail(0, "%s; the rest of the trace cannot be read without it",
                              error->text);
    case EACCES:
        return cunei_cmd_fail(0,
                              "%s: %s; its owner can let you read it with "
                              "'chmod -R go+rX %s'",
                              error->text, strerror(EACCES), path);
    default:
        return cunei_cmd_fail(rc, "%s", error->text);
    }
}

int cunei_cmd_open_trace(const char *path, struct cunei_trace *trace)
{
    struct cunei_trace_error error;

    int rc = cunei_cmd_load_trace(path, trace, &error);
    return rc < 0 ? cunei_cmd_fail_to_open(rc, path, &error) : 0;
}

int cunei_cmd_check_trace(const char *path)
{
    const struct cunei_trace_open_options opening = {.without_ring = true};
    struct cunei_trace_error error;
    struct cunei_trace trace;

    int rc = cunei_trace_open_with(&trace, path, &opening, &error);
    if (rc < 0)
        return cunei_cmd_fail_to_open(rc, path, &error);
    cunei_trace_close(&trace);
    return 0;
}

int cunei_cmd_check_choice(const struct cunei_trace *trace, const char *path,
                           const struct cunei_trace_choice *choice)
{
    for (size_t i = 0; i < choice->count; i++) {
        bool is_there = false;
        for (size_t j = 0; !is_there && j < trace->process_count; j++)
            is_there = cunei_trace_is_called(&trace->processes[j], choice->words[i]);
        if (!is_there)
            return cunei_cmd_fail(0,
                                  "'%s' has no process '%s'; 'cunei report %s "
                                  "--processes' lists them",
                                  path, choice->words[i], path);
    }
    return 0;
}

int cunei_cmd_fail_to_find_thread(const char *path, const char *thread)
{
    return cunei_cmd_fail(
        0, "'%s' has no thread '%s'; 'cunei report %s --threads' lists them", path,
        thread, path);
}

void cunei_cmd_read_refusals(const char *path, const struct cunei_trace *trace,
                             struct cunei_refusals *refusals)
{
    cunei_refusal_read(path, refusals);
    for (size_t i = 0; i < trace->process_count; i++)
        cunei_refusals_remove_recorded(refusals, trace->processes[i].metadata.pid);
}
