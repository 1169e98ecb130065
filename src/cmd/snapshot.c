// SPDX-License-Identifier: MIT
/* `cunei snapshot`: copy what was recorded up to now into a trace of its own. */
#include "trace/recovery/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/safe_open.h"
#include "base/units.h"
#include "cmd/attach/attached_recording.h"
#include "cmd/attach/connect.h"
#include "cmd/cmd.h"
#include "cmd/common/open_trace.h"
#include "cmd/common/options.h"
#include "cmd/common/recording_target.h"
#include "cmd/record/trace_directory.h"
#include "rt/clock.h"
#include "text/format.h"
#include "trace/directory/trace.h"
#include "trace/process/error.h"

struct values {
    const char *directory;
    uint64_t after_ns, last_ns;
    bool force, quiet;
};

/* Where the snapshot goes. */
struct destination {
    char *path, *shown; /* owned */
    struct cunei_file_id id;
    bool existed;
};

/* Without -o, a new directory named after the recording: returns the exit status. */
static int make_directory(struct destination *to, const struct values *values,
                          const char *trace)
{
    struct cunei_buffer name = {0}, reason = {0};
    char *real = realpath(trace, NULL);
    const char *slash = real ? strrchr(real, '/') : NULL;

    if (values->directory && !*values->directory)
        cunei_buffer_append_text(&reason, "-o needs the name of a directory");
    else if (values->directory) {
        to->path = cunei_trace_directory_make(values->directory, "-o", values->force,
                                              &to->id, &to->existed, &reason);
        to->shown = strdup(values->directory);
    } else {
        cunei_buffer_format(&name, "%s-snapshot", slash ? slash + 1 : "cunei");
        to->path = cunei_trace_directory_make_new(name.data, "-o", &to->shown, &to->id,
                                                  &reason);
    }
    int status = reason.size ? cunei_cmd_fail(0, "%s", reason.data) : EXIT_SUCCESS;
    free(real);
    cunei_buffer_fini(&name);
    cunei_buffer_fini(&reason);
    return status;
}

static void wait_for(uint64_t ns)
{
    struct timespec rest = {.tv_sec = (time_t)(ns / CUNEI_NS_PER_S),
                            .tv_nsec = (long)(ns % CUNEI_NS_PER_S)};

    while (nanosleep(&rest, &rest) < 0 && errno == EINTR)
        continue;
}

/* What the ring would need for the time that was asked for, in whole MiB. */
static uint64_t needed_mib(const struct cunei_snapshot *snapshot, uint64_t held_ns)
{
    double share = (double)snapshot->asked_ns / (double)(held_ns ? held_ns : 1);

    return (uint64_t)(share * 1.2 * (double)snapshot->ring_bytes / (double)CUNEI_MIB) +
           1;
}

/* The time that was asked for does not fit in the ring. */
static void note_short(const struct cunei_snapshot *snapshot, uint64_t held_ns,
                       bool is_last)
{
    struct cunei_buffer held = {0}, asked = {0}, size = {0}, time = {0};

    if (!snapshot->ring_bytes || held_ns >= snapshot->asked_ns)
        return;
    cunei_format_duration(&held, held_ns);
    cunei_format_duration(&asked, snapshot->asked_ns);
    cunei_format_size(&size, snapshot->ring_bytes);
    cunei_buffer_format(&time, "%gs",
                        (double)snapshot->asked_ns / (double)CUNEI_NS_PER_S);
    cunei_cmd_note(
        "only the last %s are complete, not %s: a ring of %s was too small; record "
        "with a larger one, about --keep %s%s%" PRIu64 "M",
        held.data, asked.data, size.data, is_last ? "" : time.data, is_last ? "" : ",",
        needed_mib(snapshot, held_ns));
    cunei_buffer_fini(&held);
    cunei_buffer_fini(&asked);
    cunei_buffer_fini(&size);
    cunei_buffer_fini(&time);
}

static void print_summary(const struct cunei_snapshot *snapshot, const char *shown,
                          bool is_last)
{
    uint64_t held_ns =
        snapshot->complete_ns && snapshot->complete_ns < snapshot->until_ns
            ? snapshot->until_ns - snapshot->complete_ns
            : 0;
    struct cunei_buffer text = {0};

    if (held_ns) {
        cunei_buffer_append_text(&text, "the last ");
        cunei_format_duration(&text, held_ns);
        cunei_buffer_append_text(&text, " of ");
    }
    cunei_format_several(&text, snapshot->processes, "process");
    cunei_buffer_append_text(&text, ", ");
    cunei_format_size(&text, snapshot->bytes);
    cunei_buffer_append_text(&text, ", in ");
    cunei_cmd_note("%s%s", text.data, shown);
    if (snapshot->damaged)
        cunei_cmd_note("%" PRIu64 " damaged packet%s copied in part", snapshot->damaged,
                       snapshot->damaged == 1 ? " was" : "s were");
    if (snapshot->overtaken) {
        cunei_buffer_clear(&text);
        cunei_format_several(&text, snapshot->overtaken, "ring");
        cunei_cmd_note(
            "%s %s overwritten before %s copied: nothing of the requested time is "
            "complete; record with a larger --keep",
            text.data, snapshot->overtaken == 1 ? "was" : "were",
            snapshot->overtaken == 1 ? "it was" : "they were");
    }
    if (held_ns)
        note_short(snapshot, held_ns, is_last);
    cunei_buffer_fini(&text);
}

/* The copy, into a directory that is made: returns the exit status. */
static int copy(const struct values *values, const char *trace,
                const struct destination *to)
{
    struct cunei_clock_pair now = cunei_clock_pair();
    const struct cunei_snapshot_options options = {
        .counter = now.tick, .wall_ns = now.wall_ns, .last_ns = values->last_ns};
    struct cunei_snapshot snapshot;
    struct cunei_trace_error error = {0};
    struct stat status;

    cunei_cmd_allow_descriptors();
    int fd = cunei_safe_open_folder(AT_FDCWD, to->path, &status);
    int rc = fd < 0 ? fd : !cunei_file_id_is(&to->id, &status) ? -ESTALE : 0;
    if (rc < 0)
        (void)cunei_trace_fail(&error, rc,
                               "the snapshot is not in '%s': another file or directory "
                               "has its place",
                               to->shown);
    else
        rc = cunei_trace_snapshot(trace, fd, &options, &snapshot, &error);
    if (fd >= 0)
        close(fd);
    if (rc == 0 && !values->quiet)
        print_summary(&snapshot, to->shown, values->last_ns > 0);
    if (rc == 0)
        return EXIT_SUCCESS;
    if (rc == -ENOSPC || rc == -EDQUOT || rc == -EFBIG)
        return cunei_cmd_fail(rc, "%s; choose a directory with more space with -o",
                              error.text);
    if (rc == -ESTALE)
        return cunei_cmd_fail(
            0, "%s; choose a directory that only you can change with -o", error.text);
    return cunei_cmd_fail_to_open(rc, trace, &error);
}

static int run(const struct values *values, const char *trace)
{
    struct destination to = {0};

    wait_for(values->after_ns);
    int status = cunei_cmd_check_trace(trace);
    if (status == EXIT_SUCCESS)
        status = make_directory(&to, values, trace);
    if (status == EXIT_SUCCESS) {
        status = copy(values, trace, &to);
        if (status != EXIT_SUCCESS)
            (void)cunei_trace_directory_remove(to.path, &to.id, to.existed);
    }
    free(to.path);
    free(to.shown);
    return status;
}

/* The process may be another user's, or in a container: then it is asked itself. */
static int snapshot_of(const struct values *values, const char *word)
{
    struct cunei_attached_recording attached = {0};
    int status = EXIT_FAILURE;

    bool must_ask = cunei_attach_pid(word) > 0 && access(word, F_OK) < 0 &&
                    !cunei_recording_target_is_recorded(word);
    if (must_ask && cunei_attached_recording_find(&attached, word))
        status = run(values, attached.path);
    else {
        char *trace = cunei_recording_target_find(word);
        if (trace)
            status = run(values, trace);
        free(trace);
    }
    cunei_attached_recording_fini(&attached);
    return status;
}

static int run_snapshot(int argc, char **argv)
{
    struct values values = {0};

    int status = cunei_options_parse(&cunei_cmd_snapshot, &argc, argv, &values);
    if (status != CUNEI_OPTIONS_CONTINUE)
        return status;
    if (argc != 2)
        return cunei_cmd_usage(
            argc < 2 ? "missing pid or directory: cunei snapshot "
                       "PID, or cunei snapshot DIR"
                     : "unexpected argument '%s'; a snapshot copies one recording",
            argv[argc < 2 ? 0 : 2]);
    return snapshot_of(&values, argv[1]);
}

static const struct cunei_option options[] = {
    {.name = "output",
     .letter = 'o',
     .kind = CUNEI_OPTION_TEXT,
     .value = "DIR",
     .help = "the directory to create (default NAME-snapshot)",
     .offset = offsetof(struct values, directory)},
    {.name = "after",
     .kind = CUNEI_OPTION_DURATION,
     .value = "TIME",
     .help = "wait this long first, for example 2s",
     .offset = offsetof(struct values, after_ns)},
    {.name = "last",
     .kind = CUNEI_OPTION_DURATION,
     .value = "TIME",
     .help = "copy only the last part, for example 10s",
     .offset = offsetof(struct values, last_ns)},
    {.name = "force",
     .kind = CUNEI_OPTION_FLAG,
     .help = "overwrite an existing trace",
     .offset = offsetof(struct values, force)},
    {.name = "quiet",
     .letter = 'q',
     .kind = CUNEI_OPTION_FLAG,
     .help = "print no summary",
     .offset = offsetof(struct values, quiet)},
    {0},
};

const struct cunei_cmd cunei_cmd_snapshot = {
    .name = "snapshot",
    .args = "[-o DIR] [options] PID|DIR",
    .summary = "copy what was recorded up to now",
    .help =
        "Copies what all processes of a recording have recorded up to this moment into a\n"
        "new directory, an ordinary trace. The programs are not stopped, and the\n"
        "recording continues. After a crash it copies the last seconds of every process.\n"
        "\n"
        "It works with every recording, and is made for 'cunei record --keep', which\n"
        "keeps only the last part. Without --last it copies everything that --keep keeps.\n"
        "PID is any process of the recording; 'cunei list' shows them.\n"
        "\n"
        "  cunei record --keep 30s -o DIR app.py &\n"
        "  cunei snapshot DIR\n"
        "  cunei snapshot 4711 -o slow --after 2s --last 5s",
    .options = options,
    .run = run_snapshot,
};
