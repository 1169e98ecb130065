// SPDX-License-Identifier: MIT
#include "cmd/top/targets.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/regular_file.h"
#include "base/vector.h"
#include "cmd/common/message.h"
#include "cmd/common/open_trace.h"
#include "cmd/common/recording_target.h"
#include "cmd/common/search_path.h"
#include "cmd/top/top_options.h"
#include "trace/directory/open_options.h"
#include "trace/directory/process_choice.h"
#include "trace/directory/process_folder.h"
#include "trace/directory/trace.h"
#include "trace/live/recordings.h"

#define LOOK_NS        20000000l
#define PATIENCE_LOOKS 50 /* a second */

static void target_fini(struct cunei_top_target *target)
{
    free(target->path);
    free(target->real);
    free(target->pid);
    *target = (struct cunei_top_target){0};
}

/* Whether a folder `<host>-<pid>-<n>` is of that process. */
static bool is_of_process(const char *folder, const char *pid)
{
    size_t size = strlen(pid);
    const char *last = strrchr(folder, '-');

    return last && last - folder > (ptrdiff_t)size &&
           strncmp(last - size, pid, size) == 0 && last[-1 - (ptrdiff_t)size] == '-';
}

/* Whether all processes of the second target are among those of the first. */
static bool holds(const struct cunei_top_target *one,
                  const struct cunei_top_target *other)
{
    size_t size = strlen(one->real);

    if (strncmp(one->real, other->real, size) != 0)
        return false;
    if (other->real[size] == '\0')
        return !one->pid || (other->pid && strcmp(one->pid, other->pid) == 0);
    return other->real[size] == '/' &&
           (!one->pid || is_of_process(other->real, one->pid));
}

/* Drop those that the new target holds. */
static void drop_held(struct cunei_top_targets *targets,
                      const struct cunei_top_target *target)
{
    size_t count = 0;

    for (size_t i = 0; i < targets->count; i++) {
        if (holds(target, &targets->items[i]))
            target_fini(&targets->items[i]);
        else
            targets->items[count++] = targets->items[i];
    }
    targets->count = count;
}

int cunei_top_targets_add(struct cunei_top_targets *targets, const char *path,
                          const char *pid)
{
    char *real = realpath(path, NULL);
    struct cunei_top_target target = {strdup(path), real ? real : strdup(path),
                                      pid ? strdup(pid) : NULL};
    bool has_failed = !target.path || !target.real || (pid && !target.pid) ||
                      !CUNEI_VECTOR_RESERVE_ONE(targets->items, targets->count);
    bool is_held = false;

    for (size_t i = 0; !has_failed && i < targets->count; i++)
        is_held |= holds(&targets->items[i], &target);
    if (has_failed || is_held) {
        target_fini(&target);
        return has_failed ? -ENOMEM : 0;
    }
    drop_held(targets, &target);
    targets->items[targets->count++] = target;
    return 0;
}

void cunei_top_targets_fini(struct cunei_top_targets *targets)
{
    for (size_t i = 0; i < targets->count; i++)
        target_fini(&targets->items[i]);
    free(targets->items);
    *targets = (struct cunei_top_targets){0};
}

static bool is_number(const char *word)
{
    return *word && word[strspn(word, "0123456789")] == '\0';
}

/* A directory with a program of its own is run as one: `cunei top app/`. */
static bool has_main(const char *path)
{
    struct cunei_buffer name = {0};

    cunei_buffer_format(&name, "%s/__main__.py", path);
    bool is_there = !name.failed && access(name.data, F_OK) == 0;
    cunei_buffer_fini(&name);
    return is_there;
}

/* A recording writes its metadata last when it starts. */
static bool is_new(int rc)
{
    return rc == -ENOENT || rc == -ENODATA;
}

/* Whether a process that was found is one of a program with this name.  -ENODATA: its
 * recording has just begun, and has no name yet. */
static int is_called(const struct cunei_recording *recording, const char *word)
{
    const struct cunei_trace_open_options opening = {.without_ring = true};
    struct cunei_trace_process process;
    struct cunei_trace_error error;

    int rc = cunei_process_folder_open(&process, recording->folder, &opening, &error);
    if (rc < 0)
        return is_new(rc) && kill((pid_t)recording->pid, 0) == 0 ? -ENODATA : 0;
    rc = process.state == CUNEI_TRACE_RUNNING && cunei_trace_is_called(&process, word);
    cunei_process_folder_close(&process);
    return rc;
}

static int add_recording(struct cunei_top_targets *targets,
                         const struct cunei_recording *recording)
{
    return cunei_top_targets_add(targets, recording->folder, NULL);
}

static int add_called(struct cunei_top_targets *targets,
                      const struct cunei_recordings *recordings, const char *word)
{
    bool has_new = false;
    int count = 0;

    for (size_t i = 0; i < recordings->count; i++) {
        int rc = is_called(&recordings->items[i], word);
        has_new |= rc == -ENODATA;
        if (rc <= 0)
            continue;
        count++;
        if (targets && add_recording(targets, &recordings->items[i]) < 0)
            return -ENOMEM;
    }
    return count == 0 && has_new ? -ENODATA : count;
}

/* Add the processes of programs with this name; their number, or -ENOMEM.  One whose
 * recording has just begun has a name soon. */
static int find_called(struct cunei_top_targets *targets, const char *word)
{
    const struct timespec pause = {.tv_nsec = LOOK_NS};
    int rc = -ENODATA;

    for (int i = 0; rc == -ENODATA && i < PATIENCE_LOOKS; i++) {
        struct cunei_recordings recordings = {0};
        if (i > 0)
            (void)nanosleep(&pause, NULL);
        cunei_recording_target_find_all(&recordings);
        rc = add_called(targets, &recordings, word);
        cunei_recordings_fini(&recordings);
    }
    return rc == -ENODATA ? 0 : rc;
}

bool cunei_top_targets_is_program(const char *word)
{
    struct stat status;

    if (cunei_is_directory(word))
        return has_main(word);
    if (word[0] == '-' || strchr(word, '/') || stat(word, &status) == 0)
        return true;
    if (is_number(word) || find_called(NULL, word) != 0)
        return false;
    char *path = cunei_search_path_find(word);
    bool is_found = path != NULL;
    free(path);
    return is_found;
}

/* Whether a trace is there.  One that has just begun is there soon. */
static int check_trace(const char *path)
{
    const struct timespec pause = {.tv_nsec = LOOK_NS};
    const struct cunei_trace_open_options opening = {.without_ring = true};
    struct cunei_trace_error error;
    struct cunei_trace trace;
    int rc = -ENODATA;

    for (int i = 0; rc == -ENODATA && i < PATIENCE_LOOKS; i++) {
        if (i > 0)
            (void)nanosleep(&pause, NULL);
        rc = cunei_trace_open_with(&trace, path, &opening, &error);
    }
    if (rc < 0)
        return cunei_cmd_fail_to_open(rc, path, &error);
    cunei_trace_close(&trace);
    return 0;
}

int cunei_top_targets_find(struct cunei_top_targets *targets, const char *word)
{
    if (cunei_is_directory(word) || is_number(word)) {
        char *path = cunei_recording_target_find(word);
        if (!path || check_trace(path) != 0) {
            free(path);
            return EXIT_FAILURE;
        }
        int rc = cunei_top_targets_add(targets, path,
                                       cunei_is_directory(word) ? NULL : word);
        free(path);
        return rc < 0 ? cunei_cmd_fail(rc, "cannot watch '%s'", word) : 0;
    }
    int count = find_called(targets, word);
    if (count < 0)
        return cunei_cmd_fail(count, "cannot watch '%s'", word);
    if (count == 0)
        return cunei_cmd_fail(
            0,
            "'%s' is not a pid, a trace, a program, or the name of a program that is "
            "being recorded; 'cunei list' shows these",
            word);
    return 0;
}

static int open_recording(struct cunei_top_recording *recording,
                          const struct cunei_top_target *target,
                          const struct cunei_top_options *options,
                          struct cunei_trace_error *error)
{
    return options->replay
               ? cunei_top_recording_replay(recording, target->path, target->pid,
                                            options->speed, error)
               : cunei_top_recording_open(recording, target->path, target->pid, error);
}

int cunei_top_targets_open(const struct cunei_top_targets *targets,
                           const struct cunei_top_options *options,
                           struct cunei_top_watch *watch)
{
    for (size_t i = 0; i < targets->count; i++) {
        const struct cunei_top_target *target = &targets->items[i];
        struct cunei_trace_error error = {0};
        struct cunei_top_recording *recording = cunei_top_watch_add(watch);
        if (recording)
            recording->has_all = options->json;
        int rc =
            recording ? open_recording(recording, target, options, &error) : -ENOMEM;
        if (rc < 0)
            return cunei_cmd_fail_to_open(rc, target->path, &error);
    }
    return 0;
}
