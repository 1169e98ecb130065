// SPDX-License-Identifier: MIT
/*
 * Records calls at a given rate with the runtime library, without Python: what a
 * program of any speed looks like from outside.
 *
 *     feed DIR EVENTS_PER_SECOND SECONDS [KEEP_BYTES]
 *
 * Prints the number of events, and the nanoseconds that it took.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "rt/clock.h"
#include "rt/recorder.h"
#include "rt/stream.h"
#include "wire/metadata.h"
#include "wire/process.h"

#define FUNCTIONS 200u
#define DEPTH     8u
/* Calls between two looks at the clock. */
#define BATCH 1000u

static uint32_t first;

static uint64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void put(uint32_t function, enum cunei_phase phase)
{
    struct cunei_stream *stream = cunei_stream_own;
    uint64_t now = cunei_clock_counter();

    if (!cunei_stream_has_room(stream, now, 1))
        stream = cunei_recorder_room(&now, 1, false);
    if (stream)
        cunei_stream_put(stream, now, cunei_record(now, function, phase));
}

static uint32_t open[DEPTH];
static size_t depth;

static size_t list_open(bool top_is_open, uint32_t *functions, size_t max,
                        size_t *omitted)
{
    (void)top_is_open;
    (void)max;
    *omitted = 0;
    for (size_t i = 0; i < depth; i++)
        functions[i] = open[depth - 1 - i];
    return depth;
}

/* Calls that nest, DEPTH deep: two events each. */
static uint64_t call(uint64_t number)
{
    for (depth = 0; depth < DEPTH;) {
        uint32_t function = first + (uint32_t)((number * 7 + depth) % FUNCTIONS);
        put(function, CUNEI_PHASE_ENTER);
        open[depth++] = function;
    }
    for (; depth > 0; depth--)
        put(open[depth - 1], CUNEI_PHASE_LEAVE);
    return 2 * DEPTH;
}

static int start(const char *directory, uint64_t keep)
{
    struct cunei_process process = {0};
    struct cunei_recorder_options options = {.directory = directory,
                                             .make_directory = true,
                                             .keep = {.size = keep},
                                             .hooks = {.stack = list_open}};

    int rc = cunei_recorder_start(&options, &process);
    cunei_process_fini(&process);
    for (uint32_t i = 0; rc == 0 && i < FUNCTIONS; i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "f%u", i);
        struct cunei_function function = {
            .line = i + 1, .module = "feed", .qualname = name, .file = "feed.py"};
        uint32_t id = cunei_recorder_define(&function);
        first = i == 0 ? id : first;
    }
    return rc;
}

static void wait_until(uint64_t ns)
{
    struct timespec time = {.tv_sec = (time_t)(ns / 1000000000u),
                            .tv_nsec = (long)(ns % 1000000000u)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) != 0)
        continue;
}

int main(int argc, char **argv)
{
    uint64_t events = 0;

    if (argc < 4 || start(argv[1], argc > 4 ? strtoull(argv[4], NULL, 10) : 0) < 0)
        return EXIT_FAILURE;
    uint64_t rate = strtoull(argv[2], NULL, 10), begin = now_ns();
    uint64_t end = begin + strtoull(argv[3], NULL, 10) * 1000000000u;
    for (uint64_t number = 0; now_ns() < end;) {
        for (unsigned i = 0; i < BATCH; i++)
            events += call(number++);
        uint64_t due = begin + (uint64_t)((double)events / (double)rate * 1e9);
        if (due > now_ns() + 1000000)
            wait_until(due);
    }
    uint64_t took = now_ns() - begin;
    (void)cunei_recorder_stop();
    (void)printf("%" PRIu64 " %" PRIu64 "\n", events, took);
    return EXIT_SUCCESS;
}
