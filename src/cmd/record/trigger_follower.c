// SPDX-License-Identifier: MIT
#include "cmd/record/trigger_follower.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/buffer.h"
#include "base/units.h"
#include "cmd/common/message.h"
#include "cmd/common/open_trace.h"
#include "cmd/record/trigger_options.h"
#include "cmd/record/trigger_snapshots.h"
#include "cmd/suggest/trigger.h"
#include "rt/clock.h"
#include "text/format.h"
#include "trace/process/error.h"
#include "trigger/firing.h"
#include "trigger/kind.h"
#include "trigger/watch.h"

#define INTERVAL_NS (100 * CUNEI_NS_PER_MS)

/* Where processors are scarce, the program gets nine times as much of them. */
#define LOW_PRIORITY 10

struct cunei_trigger_follower {
    struct cunei_trigger_snapshots snapshots;
    const struct cunei_trigger_options *options; /* borrowed */
    struct cunei_trigger_watch *watch; /* owned; NULL: there is no recording yet */
    struct cunei_buffer sentences;     /* each ends with NUL */
    int rc;                            /* of the watch, if it is negative */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t ending;
    bool has_ended; /* under the lock: the thread is to end */
};

static void keep_sentence(void *context, const char *sentence)
{
    struct cunei_trigger_follower *follower = context;

    cunei_buffer_append(&follower->sentences, sentence, strlen(sentence) + 1);
}

/* The directory may hold other files until a process begins to record. */
static bool open_watch(struct cunei_trigger_follower *follower)
{
    const struct cunei_trigger_listener listener = {cunei_trigger_snapshots_fired, NULL,
                                                    &follower->snapshots};
    struct cunei_trace_error error;

    return follower->watch || cunei_trigger_watch_open(
                                  &follower->watch, follower->snapshots.trace,
                                  &follower->options->triggers, &listener, &error) == 0;
}

/* Take in what there is: as cunei_trigger_watch_poll. */
static int look(struct cunei_trigger_follower *follower)
{
    if (follower->rc < 0 || !open_watch(follower))
        return 0;
    int rc = cunei_trigger_watch_poll(follower->watch);
    if (rc < 0)
        follower->rc = rc;
    else
        cunei_trigger_watch_look(follower->watch, cunei_clock_ns(CLOCK_REALTIME));
    cunei_trigger_snapshots_make(&follower->snapshots, false);
    return rc;
}

/* Wait for a moment; whether the thread is to end. */
static bool wait_a_moment(struct cunei_trigger_follower *follower, uint64_t ns)
{
    uint64_t until_ns = cunei_clock_ns(CLOCK_MONOTONIC) + ns;
    const struct timespec until = {.tv_sec = (time_t)(until_ns / CUNEI_NS_PER_S),
                                   .tv_nsec = (long)(until_ns % CUNEI_NS_PER_S)};

    (void)pthread_mutex_lock(&follower->lock);
    for (int rc = 0; rc == 0 && !follower->has_ended;)
        rc = pthread_cond_timedwait(&follower->ending, &follower->lock, &until);
    bool has_ended = follower->has_ended;
    (void)pthread_mutex_unlock(&follower->lock);
    return has_ended;
}

static void *follow(void *context)
{
    struct cunei_trigger_follower *follower = context;
    int rc = 0;

    /* On Linux the priority is that of the calling thread. */
    (void)setpriority(PRIO_PROCESS, 0, LOW_PRIORITY);
    while (!wait_a_moment(follower, rc == 2 ? 0 : INTERVAL_NS))
        rc = look(follower);
    return NULL;
}

static int start_thread(struct cunei_trigger_follower *follower)
{
    pthread_condattr_t monotonic;

    (void)pthread_mutex_init(&follower->lock, NULL);
    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&follower->ending, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
    return -pthread_create(&follower->thread, NULL, follow, follower);
}

int cunei_trigger_follower_start(struct cunei_trigger_follower **follower,
                                 const struct cunei_trigger_options *options,
                                 const char *directory, const char *shown,
                                 uint64_t ring_bytes)
{
    struct cunei_trigger_follower *started = calloc(1, sizeof(*started));

    if (!started)
        return -ENOMEM;
    started->options = options;
    started->snapshots = (struct cunei_trigger_snapshots){.options = options,
                                                          .trace = directory,
                                                          .shown = shown,
                                                          .ring_bytes = ring_bytes,
                                                          .say = keep_sentence,
                                                          .context = started};
    cunei_cmd_allow_descriptors();
    int rc = start_thread(started);
    if (rc < 0)
        free(started);
    else
        *follower = started;
    return rc;
}

/* The rest, at the launcher's own priority. */
static void read_rest(struct cunei_trigger_follower *follower)
{
    while (look(follower) == 2)
        continue;
    if (follower->watch && follower->rc == 0)
        follower->rc = cunei_trigger_watch_finish(follower->watch);
    cunei_trigger_snapshots_make(&follower->snapshots, true);
    cunei_trigger_snapshots_finish(&follower->snapshots);
}

void cunei_trigger_follower_finish(struct cunei_trigger_follower *follower)
{
    if (!follower)
        return;
    (void)pthread_mutex_lock(&follower->lock);
    follower->has_ended = true;
    (void)pthread_cond_signal(&follower->ending);
    (void)pthread_mutex_unlock(&follower->lock);
    (void)pthread_join(follower->thread, NULL);
    read_rest(follower);
}

/* Triggers whose patterns no function matched. */
static void print_unmatched(const struct cunei_trigger_follower *follower)
{
    const struct cunei_triggers *triggers = &follower->options->triggers;
    const struct cunei_trigger_names none = {0};
    struct cunei_buffer sentence = {0};

    for (size_t i = 0; i < triggers->count; i++) {
        cunei_buffer_clear(&sentence);
        if (triggers->items[i].kind->matches &&
            cunei_suggest_trigger(&triggers->items[i],
                                  cunei_trigger_watch_functions(follower->watch, i),
                                  &none, cunei_trigger_watch_trace(follower->watch),
                                  follower->snapshots.shown, &sentence))
            cunei_cmd_note("%s", cunei_buffer_text(&sentence));
    }
    cunei_buffer_fini(&sentence);
}

void cunei_trigger_follower_print(const struct cunei_trigger_follower *follower)
{
    if (!follower)
        return;
    const struct cunei_buffer *sentences = &follower->sentences;
    for (size_t at = 0; at < sentences->size; at += strlen(sentences->data + at) + 1)
        cunei_cmd_note("%s", sentences->data + at);
    if (!follower->watch)
        return;
    uint64_t missed = cunei_trigger_watch_missed(follower->watch);
    struct cunei_buffer packets = {0};
    cunei_format_several(&packets, missed, "packet");
    if (missed > 0)
        cunei_cmd_note("the triggers missed %s that were overwritten before they were "
                       "read; record with a larger --keep",
                       cunei_buffer_text(&packets));
    cunei_buffer_fini(&packets);
    print_unmatched(follower);
}

void cunei_trigger_follower_free(struct cunei_trigger_follower *follower)
{
    if (!follower)
        return;
    cunei_trigger_watch_close(follower->watch);
    cunei_trigger_snapshots_fini(&follower->snapshots);
    cunei_buffer_fini(&follower->sentences);
    (void)pthread_cond_destroy(&follower->ending);
    (void)pthread_mutex_destroy(&follower->lock);
    free(follower);
}
