// SPDX-License-Identifier: MIT
/*
 * Reads and checks a whole trace: prints the number of 8-byte words and the
 * nanoseconds that it took.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "trace/directory/trace.h"

static uint64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t count_words(const struct cunei_trace_process *process,
                            const struct cunei_trace_stream *stream)
{
    struct cunei_trace_reader *reader =
        cunei_trace_reader_open(process, stream, 0, UINT64_MAX);
    struct cunei_trace_packet packet;
    uint64_t words = 0;

    while (reader && cunei_trace_reader_next(reader, &packet) > 0)
        words += packet.word_count;
    cunei_trace_reader_close(reader);
    return words;
}

int main(int argc, char **argv)
{
    struct cunei_trace trace;
    struct cunei_trace_error error;
    uint64_t words = 0;

    uint64_t begin = now_ns();
    if (argc != 2 || cunei_trace_open(&trace, argv[1], &error) < 0)
        return EXIT_FAILURE;
    for (size_t i = 0; i < trace.process_count; i++) {
        const struct cunei_trace_process *process = &trace.processes[i];
        for (size_t j = 0; j < process->stream_count; j++)
            words += count_words(process, &process->streams[j]);
    }
    cunei_trace_close(&trace);
    printf("%llu %llu\n", (unsigned long long)words,
           (unsigned long long)(now_ns() - begin));
    return EXIT_SUCCESS;
}
