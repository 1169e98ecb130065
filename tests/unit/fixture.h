// SPDX-License-Identifier: MIT
/*
 * Traces made by hand, in a directory of their own, for tests of what reads them.
 *
 *     struct fixture fixture;
 *     fixture_init(&fixture);                          a directory, one process in it
 *     fixture_packet_begin(&fixture, 0, 0, 1000);      stream 0, sequence 0, tick 1000
 *     fixture_put(&fixture, 1010, 1024, CUNEI_PHASE_ENTER);
 *     fixture_append(&fixture);                        to the stream file
 *     …
 *     fixture_fini(&fixture);
 *
 * A packet begins with an empty `stack`.  The functions are a:f and a:g with the ids
 * 1024 and 1025, ticks are nanoseconds, tick 0 is 2024-01-01 00:00:00 UTC.
 */
#ifndef CUNEI_TESTS_UNIT_FIXTURE_H
#define CUNEI_TESTS_UNIT_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/event.h"
#include "wire/live.h"
#include "wire/metadata.h"
#include "wire/packet.h"
#include "wire/process.h"

#define FIXTURE_START_S UINT64_C(1704067200)

struct fixture {
    char directory[64]; /* the trace directory */
    char folder[128];   /* the process's folder in it */
    struct cunei_metadata metadata;
    struct cunei_packet *packet; /* owned: under construction, of full size */
    uint64_t last;               /* tick of its last event */
    char path[256];              /* what fixture_path made last */
};

void fixture_init(struct fixture *fixture);
void fixture_fini(struct fixture *fixture);

/* Another process in the same directory; the fixture continues with it. */
void fixture_add_process(struct fixture *fixture, uint32_t pid);

/* The path of a file in the process's folder, until the next call. */
const char *fixture_path(struct fixture *fixture, const char *name);

/* Files: as a whole, at their end, cut to a size. */
void fixture_write_file(const char *path, const void *bytes, size_t size);
void fixture_append_file(const char *path, const void *bytes, size_t size);
void fixture_cut_file(const char *path, uint64_t size);
uint64_t fixture_file_size(const char *path);

void fixture_define(struct fixture *fixture, uint32_t id, const char *qualname);

/* A name that the program chose, of a region for example; `file` stands for its kind.
 */
void fixture_define_user_name(struct fixture *fixture, uint32_t id, const char *name,
                              const char *file);
void fixture_describe(struct fixture *fixture, bool ended);

void fixture_packet_begin(struct fixture *fixture, uint64_t stream, uint64_t sequence,
                          uint64_t begin);
void fixture_put_words(struct fixture *fixture, uint64_t time, const uint64_t *words,
                       size_t count);
void fixture_put(struct fixture *fixture, uint64_t time, uint32_t class,
                 enum cunei_phase phase);
void fixture_put_call(struct fixture *fixture, uint64_t time, uint32_t called,
                      enum cunei_phase phase);
void fixture_put_unwind(struct fixture *fixture, uint64_t time, uint64_t run);

/* An event of a built-in class, of phase leave, with a valid value in each field but
 * `wrong`, if that is not NULL. */
void fixture_put_class(struct fixture *fixture, uint64_t time, uint32_t number,
                       const struct cunei_field *wrong);
void fixture_put_define(struct fixture *fixture, uint64_t time, uint32_t id,
                        const char *qualname);

/* Close the packet and append it to its stream's file. */
void fixture_append(struct fixture *fixture);

/* A packet with that many calls of a:f, 2 ticks each, in the file of stream 0. */
void fixture_append_calls(struct fixture *fixture, uint64_t sequence, uint64_t begin,
                          size_t calls);

/*
 * A live file with that many slots, of a process of an earlier boot, which is dead; or,
 * with `alive`, of this boot and this process, which is to map it.
 */
void fixture_live_create(struct fixture *fixture, uint32_t stream_count, bool alive);

/* Put the packet, open as it is, into a buffer of its slot. */
void fixture_live_store(struct fixture *fixture, unsigned buffer);
/* The same `offset` bytes behind the beginning of the buffer. */
void fixture_live_store_at(struct fixture *fixture, unsigned buffer, uint64_t offset);
void fixture_live_count(struct fixture *fixture, enum cunei_live_counter counter,
                        uint64_t count);

#endif
