// SPDX-License-Identifier: MIT
/*
 * Who writes which blocks of the ring: never two at once, never an older packet over a
 * newer one, and what was overwritten is known.  Runs under the thread sanitizer too.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rt/ring_claim.h"

#define BLOCKS UINT64_C(64)

/* A ring whose blocks are words: each holds the position of its packet. */
struct fixture {
    struct cunei_ring head;
    struct cunei_ring_block blocks[BLOCKS];
    _Atomic uint64_t words[BLOCKS];
    struct cunei_ring_map ring;
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));

    assert_non_null(fixture);
    fixture->ring = (struct cunei_ring_map){
        .head = &fixture->head, .blocks = fixture->blocks, .block_count = BLOCKS};
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    free(*state);
    return 0;
}

static void write_words(struct fixture *fixture, uint64_t position, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        atomic_store_explicit(&fixture->words[(position + i) % BLOCKS], position + 1,
                              memory_order_relaxed);
}

/* Write a whole packet that ends at this tick. */
static int put(struct fixture *fixture, uint64_t count, uint64_t end)
{
    uint64_t position;

    int rc = cunei_ring_take(&fixture->ring, count, &position);
    if (rc < 0)
        return rc;
    write_words(fixture, position, count);
    cunei_ring_publish(&fixture->ring, position, count, end);
    return 0;
}

static void what_is_overwritten_is_known(void **state)
{
    struct fixture *fixture = *state;

    for (uint64_t i = 0; i < BLOCKS / 4; i++)
        assert_int_equal(put(fixture, 4, i == 1 ? 500 : 100 + i), 0);
    assert_int_equal(fixture->head.overwritten_end, 0);
    assert_int_equal(put(fixture, 4, 600), 0); /* over the first */
    assert_int_equal(fixture->head.overwritten_end, 100);
    assert_int_equal(put(fixture, 1, 601), 0); /* over a part of the second */
    assert_int_equal(fixture->head.overwritten_end, 500);
    assert_int_equal(put(fixture, 8, 602), 0); /* ends that are earlier */
    assert_int_equal(fixture->head.overwritten_end, 500);
}

static void a_writer_that_is_stopped_for_a_round_keeps_its_blocks(void **state)
{
    struct fixture *fixture = *state;
    uint64_t stopped, others = 0, lost = 0;

    assert_int_equal(cunei_ring_take(&fixture->ring, 3, &stopped), 0);
    for (uint64_t i = 0; i < 3 * BLOCKS / 2; i++) {
        if (put(fixture, 2, 10 + i) == 0)
            others++;
        else
            lost++;
    }
    write_words(fixture, stopped, 3);
    cunei_ring_publish(&fixture->ring, stopped, 3, 9);

    /* Of each round but the first, one or two packets would have met its blocks. */
    assert_in_range(lost, 2, 6);
    assert_int_equal(fixture->head.dropped, lost);
    assert_int_equal(others + lost, 3 * BLOCKS / 2);
    for (uint64_t i = 0; i < 3; i++) {
        assert_int_equal(fixture->blocks[stopped + i].claim,
                         cunei_ring_claim(stopped, CUNEI_RING_WHOLE));
        assert_int_equal(fixture->words[stopped + i], stopped + 1);
    }
}

static void a_late_writer_does_not_overwrite_newer_packets(void **state)
{
    struct fixture *fixture = *state;
    struct cunei_ring_block before[BLOCKS];
    uint64_t position;

    for (uint64_t i = 0; i < BLOCKS; i++)
        assert_int_equal(put(fixture, 2, 10 + i), 0); /* two rounds */
    memcpy(before, fixture->blocks, sizeof(before));
    fixture->head.next = BLOCKS / 2; /* as a writer that claimed in the first round */
    int rc = cunei_ring_take(&fixture->ring, 4, &position);

    assert_int_equal(rc, -EBUSY);
    assert_memory_equal(before, fixture->blocks, sizeof(before));
}

static void a_packet_that_meets_used_blocks_gives_the_others_back(void **state)
{
    struct fixture *fixture = *state;
    struct cunei_ring_block before[BLOCKS];
    uint64_t stopped, position;

    assert_int_equal(put(fixture, 2, 10), 0);
    assert_int_equal(cunei_ring_take(&fixture->ring, 2, &stopped), 0);
    while (fixture->head.next < BLOCKS)
        assert_int_equal(put(fixture, 2, 20), 0);
    memcpy(before, fixture->blocks, sizeof(before));
    int rc = cunei_ring_take(&fixture->ring, 4, &position);

    assert_int_equal(rc, -EBUSY);
    assert_memory_equal(before, fixture->blocks, sizeof(before));
}

/* Writers of random sizes, and a reader that copies whole packets. */
#define WRITERS 4
#define ROUNDS  40000

struct share {
    struct fixture *fixture;
    unsigned seed;
    atomic_uint *done;
};

static void *write_many(void *argument)
{
    struct share *share = argument;

    for (uint64_t i = 1; i <= ROUNDS; i++)
        (void)put(share->fixture, 1 + (uint64_t)rand_r(&share->seed) % 6, i);
    atomic_fetch_add(share->done, 1);
    return NULL;
}

/* As trace/live/ring.c: 1 if the packet at a block was whole during the whole copy. */
static int copy(struct fixture *fixture, uint64_t first)
{
    uint64_t words[BLOCKS], count = 0;
    uint64_t claim =
        atomic_load_explicit(&fixture->blocks[first].claim, memory_order_acquire);

    if (cunei_ring_claim_state(claim) != CUNEI_RING_WHOLE ||
        cunei_ring_claim_position(claim) % BLOCKS != first)
        return 0;
    while (count < 6 &&
           atomic_load_explicit(&fixture->blocks[(first + count) % BLOCKS].claim,
                                memory_order_acquire) == claim) {
        words[count] = atomic_load_explicit(&fixture->words[(first + count) % BLOCKS],
                                            memory_order_relaxed);
        count++;
    }
    atomic_thread_fence(memory_order_acquire);
    for (uint64_t i = 0; i < count; i++) {
        if (atomic_load_explicit(&fixture->blocks[(first + i) % BLOCKS].claim,
                                 memory_order_relaxed) != claim)
            return 0;
    }
    for (uint64_t i = 0; i < count; i++)
        assert_int_equal(words[i], cunei_ring_claim_position(claim) + 1);
    return 1;
}

static void a_copying_reader_never_gets_a_mixed_packet(void **state)
{
    struct share shares[WRITERS];
    pthread_t writers[WRITERS];
    atomic_uint done = 0;
    uint64_t copies = 0;

    for (unsigned i = 0; i < WRITERS; i++) {
        shares[i] = (struct share){*state, i, &done};
        assert_int_equal(pthread_create(&writers[i], NULL, write_many, &shares[i]), 0);
    }
    for (uint64_t i = 0; atomic_load(&done) < WRITERS; i++)
        copies += (uint64_t)copy(*state, i % BLOCKS);
    for (unsigned i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_join(writers[i], NULL), 0);
    for (uint64_t i = 0; i < BLOCKS; i++)
        copies += (uint64_t)copy(*state, i);

    assert_true(copies > 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_overwritten_is_known),
        TEST(a_writer_that_is_stopped_for_a_round_keeps_its_blocks),
        TEST(a_late_writer_does_not_overwrite_newer_packets),
        TEST(a_packet_that_meets_used_blocks_gives_the_others_back),
        TEST(a_copying_reader_never_gets_a_mixed_packet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
