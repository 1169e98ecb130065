// SPDX-License-Identifier: MIT
/* The counts that `cunei info` shows of a process, made by reading all of it. */
#ifndef CUNEI_CMD_INFO_COUNT_H
#define CUNEI_CMD_INFO_COUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/facts/event_count.h"
#include "trace/directory/trace.h"

struct cunei_info_count {
    size_t threads;
    size_t streams; /* that are not empty */
    uint64_t packets;
    uint64_t events;
    struct cunei_event_count count; /* of kinds of events */
    uint64_t functions;
    uint64_t bytes; /* of stream files and metadata, and what is only live */
    uint64_t begin; /* ticks of the first and the last event */
    uint64_t end;
    int rc; /* of the first stream that could not be read to its end; 0: none */
    struct cunei_trace_error error;
};

/* The kinds of events that info counts; a new event class gets a row to be counted. */
struct cunei_info_kind {
    uint32_t class;   /* enum cunei_class, or 0: regions */
    uint32_t phases;  /* bits 1 << phase */
    const char *key;  /* in JSON */
    const char *what; /* in text, in the singular */
    bool is_budget;   /* shown with the budget */
};

#define CUNEI_INFO_KINDS 13
extern const struct cunei_info_kind cunei_info_kinds[CUNEI_INFO_KINDS];

/* How many events of a kind there are, by its index. */
uint64_t cunei_info_count_of(const struct cunei_info_count *inventory, size_t kind);

void cunei_info_count_take(struct cunei_info_count *inventory,
                           const struct cunei_trace_process *process);

/* On the wall clock; where the description does not say it, that of the first event. */
uint64_t cunei_info_count_start_ns(const struct cunei_info_count *inventory,
                                   const struct cunei_trace_process *process);

/* Nanoseconds from the first event to the last. */
uint64_t cunei_info_count_duration_ns(const struct cunei_info_count *inventory,
                                      const struct cunei_trace_process *process);

#endif
