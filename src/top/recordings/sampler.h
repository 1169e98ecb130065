// SPDX-License-Identifier: MIT
/*
 * Reads recordings in a thread of its own, so that keys are answered while much is
 * read.
 *
 *     struct cunei_top_sampler sampler;
 *     cunei_top_sampler_start(&sampler, &watch, interval_ns);
 *     … poll(2) on cunei_top_sampler_fd(&sampler) …
 *     rc = cunei_top_sampler_take(&sampler, &known, &sums);
 *     cunei_top_sampler_stop(&sampler);
 *
 * The thread only reads.  When an interval is over it waits until the other one has the
 * sums: the recordings belong to one thread at a time.
 */
#ifndef CUNEI_TOP_RECORDINGS_SAMPLER_H
#define CUNEI_TOP_RECORDINGS_SAMPLER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct cunei_top_known;
struct cunei_top_sums;
struct cunei_top_watch;

/* Private but for the state. */
struct cunei_top_sampler {
    struct cunei_top_watch *watch; /* borrowed */
    uint64_t interval_ns;
    int sum_state; /* of the poll before the last sums */
    pthread_t thread;
    pthread_mutex_t mutex; /* guards what follows */
    pthread_cond_t changed;
    bool is_ready; /* the thread waits */
    bool is_hurried;
    bool is_paused; /* a replay stands still */
    bool is_stopped;
    int state;       /* of the last poll */
    uint64_t now_ns; /* the clock before it */
    int fd;          /* readable while sums are ready */
};

/* Negative errno. */
int cunei_top_sampler_start(struct cunei_top_sampler *sampler,
                            struct cunei_top_watch *watch, uint64_t interval_ns);
void cunei_top_sampler_stop(struct cunei_top_sampler *sampler);
int cunei_top_sampler_fd(const struct cunei_top_sampler *sampler);

/* Do not wait for the end of this interval. */
void cunei_top_sampler_hurry(struct cunei_top_sampler *sampler);

/* A replay stands still, or moves on. */
void cunei_top_sampler_pause(struct cunei_top_sampler *sampler, bool is_paused);

/* 1: the sums of an interval; 0: it is not over; negative errno, also of reading. */
int cunei_top_sampler_take(struct cunei_top_sampler *sampler,
                           struct cunei_top_known *known, struct cunei_top_sums *sums);

#endif
