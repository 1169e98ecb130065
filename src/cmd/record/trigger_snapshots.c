// SPDX-License-Identifier: MIT
#include "cmd/record/trigger_snapshots.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/safe_open.h"
#include "cmd/record/trace_directory.h"
#include "cmd/record/trigger_options.h"
#include "rt/clock.h"
#include "rt/space.h"
#include "text/cause_words.h"
#include "text/format.h"
#include "trace/process/error.h"
#include "trace/recovery/snapshot.h"
#include "trigger/firing.h"

#define PRIVATE_MODE 0700

/* Of a sentence; the snapshot has all. */
#define CAUSES_SHOWN 8u
/* Sentences about snapshots that could not be made; others are counted. */
#define FAILURES_SHOWN 4u

void cunei_trigger_snapshots_fired(void *context,
                                   const struct cunei_trigger_firing *firing)
{
    struct cunei_trigger_snapshots *snapshots = context;

    if (snapshots->causes.firings == 0)
        snapshots->since_ns = cunei_clock_ns(CLOCK_MONOTONIC);
    /* Without memory for a cause the snapshot is made for the others. */
    (void)cunei_causes_add(&snapshots->causes, firing);
}

static void say(const struct cunei_trigger_snapshots *snapshots,
                struct cunei_buffer *sentence)
{
    snapshots->say(snapshots->context, cunei_buffer_text(sentence));
    cunei_buffer_fini(sentence);
}

/* What made it. */
static void put_causes(const struct cunei_causes *causes, struct cunei_buffer *out)
{
    for (size_t i = 0; i < causes->count && i < CAUSES_SHOWN; i++) {
        const struct cunei_caused *caused = &causes->items[i];
        cunei_buffer_append_text(out, i ? "; " : "");
        cunei_cause_words_format(&caused->cause, caused->pid, out);
    }
    if (causes->count > CAUSES_SHOWN)
        cunei_buffer_format(out, "; and %zu more", causes->count - CAUSES_SHOWN);
}

static void say_made(const struct cunei_trigger_snapshots *snapshots, const char *shown)
{
    struct cunei_buffer sentence = {0};

    cunei_buffer_format(&sentence, "snapshot in %s: ", shown);
    put_causes(&snapshots->causes, &sentence);
    say(snapshots, &sentence);
}

static void say_failed(const struct cunei_trigger_snapshots *snapshots, const char *why)
{
    struct cunei_buffer sentence = {0};

    cunei_buffer_append_text(&sentence, "no snapshot could be made for ");
    put_causes(&snapshots->causes, &sentence);
    cunei_buffer_format(&sentence, ": %s", why);
    say(snapshots, &sentence);
}

/* The recording's name without the slashes behind it, and without its folder.  `.` and
 * `..` are no names. */
static void put_name(const char *path, bool is_base, struct cunei_buffer *out)
{
    size_t length = strlen(path);

    while (length > 1 && path[length - 1] == '/')
        length--;
    char *real = is_base || path[length - 1] == '.' ? realpath(path, NULL) : NULL;
    const char *name = real ? real : path;
    size_t size = real ? strlen(real) : length;
    const char *slash = is_base ? memrchr(name, '/', size) : NULL;
    const char *begin = slash ? slash + 1 : name;
    cunei_buffer_append(out, begin, size - (size_t)(begin - name));
    cunei_buffer_append_text(out, "-snapshot");
    free(real);
}

/* Where the snapshot goes. */
struct destination {
    char *path, *shown; /* owned */
    struct cunei_file_id id;
};

static void make_directory(const struct cunei_trigger_snapshots *snapshots,
                           struct destination *to, struct cunei_buffer *reason)
{
    const char *folder = snapshots->options->directory;
    struct cunei_buffer name = {0};

    if (folder && mkdir(folder, PRIVATE_MODE) < 0 && errno != EEXIST)
        cunei_buffer_format(reason, "cannot create the directory '%s': %s", folder,
                            strerror(errno));
    if (folder)
        cunei_buffer_format(&name, "%s/", folder);
    put_name(snapshots->shown, folder != NULL, &name);
    if (reason->size == 0)
        to->path = cunei_trace_directory_make_new(
            cunei_buffer_text(&name), "--snapshot-dir", &to->shown, &to->id, reason);
    cunei_buffer_fini(&name);
}

/* Copy into the directory; -E2BIG: more than `max_bytes`. */
static int copy(struct cunei_trigger_snapshots *snapshots, const struct destination *to,
                uint64_t max_bytes, struct cunei_buffer *reason)
{
    struct cunei_clock_pair now = cunei_clock_pair();
    const struct cunei_snapshot_options options = {.counter = now.tick,
                                                   .wall_ns = now.wall_ns,
                                                   .last_ns = snapshots->last_ns,
                                                   .max_bytes = max_bytes,
                                                   .causes = snapshots->causes.items,
                                                   .cause_count =
                                                       snapshots->causes.count};
    struct cunei_snapshot made;
    struct cunei_trace_error error = {0};
    struct stat status;

    int fd = cunei_safe_open_folder(AT_FDCWD, to->path, &status);
    int rc = fd < 0
                 ? fd
                 : cunei_trace_snapshot(snapshots->trace, fd, &options, &made, &error);
    if (fd >= 0)
        close(fd);
    if (rc == 0)
        cunei_snapshot_count(&snapshots->tally, now.monotonic_ns, made.file_bytes);
    else
        cunei_buffer_format(reason, "%s: %s",
                            error.text[0] ? error.text : "it cannot be copied",
                            strerror(-rc));
    return rc;
}

/* Make one that the limits allow. */
static void make(struct cunei_trigger_snapshots *snapshots, uint64_t now_ns,
                 uint64_t max_bytes)
{
    struct cunei_buffer reason = {0};
    struct destination to = {0};
    int rc = 0;

    make_directory(snapshots, &to, &reason);
    if (to.path && cunei_space_check_directory(to.path, snapshots->ring_bytes) < 0)
        cunei_buffer_append_text(
            &reason, "1 GiB or 5 % of the file system must stay free; choose another "
                     "with --snapshot-dir");
    if (reason.size == 0)
        rc = copy(snapshots, &to, max_bytes, &reason);
    if (reason.size > 0 && to.path)
        (void)cunei_trace_directory_remove(to.path, &to.id, false);
    if (rc == -E2BIG)
        cunei_snapshot_count_too_large(&snapshots->tally, snapshots->causes.firings);
    else if (reason.size > 0) {
        cunei_snapshot_count_failed(&snapshots->tally, now_ns);
        if (snapshots->tally.failed <= FAILURES_SHOWN)
            say_failed(snapshots, cunei_buffer_text(&reason));
    } else
        say_made(snapshots, to.shown);
    free(to.path);
    free(to.shown);
    cunei_buffer_fini(&reason);
}

void cunei_trigger_snapshots_make(struct cunei_trigger_snapshots *snapshots,
                                  bool is_last)
{
    uint64_t now_ns = cunei_clock_ns(CLOCK_MONOTONIC), max_bytes = 0;

    if (snapshots->causes.firings == 0 ||
        (!is_last && now_ns - snapshots->since_ns < CUNEI_TRIGGER_TOGETHER_NS))
        return;
    if (cunei_snapshot_may(&snapshots->options->limits, &snapshots->tally, now_ns,
                           snapshots->causes.firings, &max_bytes))
        make(snapshots, now_ns, max_bytes);
    cunei_causes_fini(&snapshots->causes);
}

void cunei_trigger_snapshots_finish(struct cunei_trigger_snapshots *snapshots)
{
    static const char *const limits[CUNEI_LIMITS] = {
        [CUNEI_LIMIT_INTERVAL] = "--snapshot-interval",
        [CUNEI_LIMIT_COUNT] = "--snapshot-count",
        [CUNEI_LIMIT_SPACE] = "--snapshot-space",
    };
    const struct cunei_snapshot_tally *tally = &snapshots->tally;
    struct cunei_buffer sentence = {0}, reasons = {0};
    uint64_t left = 0;

    for (size_t i = 0; i < CUNEI_LIMITS; i++) {
        if (tally->left[i] == 0)
            continue;
        left += tally->left[i];
        cunei_buffer_append_text(&reasons, reasons.size ? ", " : "");
        cunei_format_count(&reasons, tally->left[i]);
        cunei_buffer_format(&reasons, " because of %s", limits[i]);
    }
    if (left > 0) {
        cunei_buffer_append_text(&sentence, "triggers fired ");
        cunei_format_several(&sentence, left, "more time");
        cunei_buffer_format(&sentence, ", without a snapshot: %s",
                            cunei_buffer_text(&reasons));
        say(snapshots, &sentence);
    }
    cunei_buffer_fini(&reasons);
    if (tally->failed > FAILURES_SHOWN) {
        cunei_format_several(&sentence, tally->failed - FAILURES_SHOWN,
                             "more snapshot");
        cunei_buffer_append_text(&sentence, " could not be made");
        say(snapshots, &sentence);
    }
}

void cunei_trigger_snapshots_fini(struct cunei_trigger_snapshots *snapshots)
{
    cunei_causes_fini(&snapshots->causes);
}
