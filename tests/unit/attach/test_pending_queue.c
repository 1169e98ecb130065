// SPDX-License-Identifier: MIT
/* The queue of a CPython 3.12 that is made up in this process, and read as another's.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "attach/pending_queue.h"

enum {
    INTERPRETER = 1024,
    GIL = 2048,
    SLOTS = 424,
    FIRST = 936,
    NEXT = 940,
    CALLS_TO_DO = 416,
    LOCK = 408,
    BREAKER = 368
};

struct fixture {
    _Alignas(8) uint8_t runtime[4096], before[4096];
    uint64_t lock;
    struct cunei_target target;
    struct cunei_pending_queue queue;
};

static struct fixture python;

static void put(size_t offset, uint64_t value, size_t size)
{
    memcpy(python.runtime + offset, &value, size);
}

static uint32_t get(size_t offset)
{
    uint32_t value;
    memcpy(&value, python.runtime + INTERPRETER + offset, sizeof(value));
    return value;
}

static uint64_t address_of(size_t offset)
{
    return (uint64_t)(uintptr_t)python.runtime + offset;
}

static int set_up(void **state)
{
    (void)state;
    python = (struct fixture){.lock = 1};
    python.target.process.pid = getpid();
    python.target.python.minor = 12;
    python.target.python.patch = 1;
    python.target.python.runtime = address_of(0);
    python.target.python.runtime_size = sizeof(python.runtime);
    put(16, 1, 4); /* initialized */
    put(48, address_of(INTERPRETER), 8);
    put(INTERPRETER + 40, 1, 4);
    put(INTERPRETER + 96, address_of(0), 8);
    put(INTERPRETER + 384, address_of(GIL), 8);
    put(INTERPRETER + 392, 1, 4); /* it owns its GIL */
    put(INTERPRETER + LOCK, (uint64_t)(uintptr_t)&python.lock, 8);
    put(INTERPRETER + FIRST, 7, 4);
    put(INTERPRETER + NEXT, 7, 4);
    memcpy(python.before, python.runtime, sizeof(python.runtime));
    return 0;
}

static void an_empty_queue_is_read(void **state)
{
    (void)state;
    assert_int_equal(cunei_pending_queue_read(&python.queue, &python.target), 0);

    assert_int_equal(cunei_pending_queue_count(&python.queue), 0);
    assert_false(cunei_pending_queue_is_locked(&python.queue));
    assert_false(cunei_pending_queue_is_busy(&python.queue));
    python.lock = 0;
    assert_true(cunei_pending_queue_is_locked(&python.queue));
    put(INTERPRETER + 400, 1, 4);
    assert_int_equal(cunei_pending_queue_read(&python.queue, &python.target), 0);
    assert_true(cunei_pending_queue_is_busy(&python.queue));
}

static void what_is_not_as_it_must_be_is_refused(void **state)
{
    (void)state;
    static const struct {
        size_t offset, size;
        uint64_t value;
        int rc;
    } changes[] = {
        {16, 4, 0, -EAGAIN},
        {24, 8, 4096, -ESHUTDOWN},
        {48, 8, 0, -EBADMSG},
        {48, 8, 4096, -EBADMSG},
        {INTERPRETER + 8, 8, 1, -EBADMSG}, /* id */
        {INTERPRETER + 40, 4, 2, -EBADMSG},
        {INTERPRETER + 44, 4, 1, -EBADMSG},
        {INTERPRETER + 96, 8, 64, -EBADMSG},
        {INTERPRETER + 384, 8, 64, -EBADMSG},
        {INTERPRETER + 392, 4, 0, -EBADMSG},
        {INTERPRETER + BREAKER, 4, 77, -EBADMSG},
        {INTERPRETER + 400, 4, 2, -EBADMSG}, /* busy */
        {INTERPRETER + CALLS_TO_DO, 4, 5, -EBADMSG},
        {INTERPRETER + FIRST, 4, 32, -EBADMSG},
        {INTERPRETER + NEXT, 4, UINT32_MAX, -EBADMSG},
    };
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        memcpy(python.runtime, python.before, sizeof(python.runtime));
        put(changes[i].offset, changes[i].value, changes[i].size);

        assert_int_equal(cunei_pending_queue_read(&python.queue, &python.target),
                         changes[i].rc);
    }
}

static void other_versions_are_not_known(void **state)
{
    (void)state;
    struct cunei_python_image *image = &python.target.python;
    assert_true(cunei_pending_queue_is_known(&python.target));

    image->patch = 99;
    assert_false(cunei_pending_queue_is_known(&python.target));
    image->patch = -1;
    assert_false(cunei_pending_queue_is_known(&python.target));
    image->patch = 1;
    image->minor = 11;
    assert_false(cunei_pending_queue_is_known(&python.target));
    image->minor = 13;
    image->is_free_threaded = true;
    assert_false(cunei_pending_queue_is_known(&python.target));
}

static void a_call_is_added_and_signalled(void **state)
{
    (void)state;
    const char text[] = "the text of the call";
    const struct cunei_pending_call call = {0x1234, 0x5678};
    uint64_t address = 0, slot[2];
    assert_int_equal(cunei_pending_queue_read(&python.queue, &python.target), 0);

    assert_int_equal(
        cunei_pending_queue_place(&python.queue, text, sizeof(text), &address), 0);
    assert_int_equal(cunei_pending_queue_push(&python.queue, &call), 0);

    assert_string_equal((const char *)(uintptr_t)address, text);
    assert_int_equal(address, address_of(INTERPRETER + SLOTS + 30 * 16));
    memcpy(slot, python.runtime + INTERPRETER + SLOTS, sizeof(slot));
    assert_int_equal(slot[0], 0x1234);
    assert_int_equal(slot[1], 0x5678);
    assert_int_equal(get(FIRST), 0);
    assert_int_equal(get(NEXT), 1);
    assert_int_equal(get(CALLS_TO_DO), 1);
    assert_int_equal(get(BREAKER), 1);
}

static void a_call_behind_others_is_removed(void **state)
{
    (void)state;
    const struct cunei_pending_call call = {0x1234, 0x5678};
    put(INTERPRETER + NEXT, 9, 4); /* two of the program's */
    memcpy(python.before, python.runtime, sizeof(python.runtime));
    assert_int_equal(cunei_pending_queue_read(&python.queue, &python.target), 0);
    assert_int_equal(cunei_pending_queue_push(&python.queue, &call), 0);

    assert_int_equal(cunei_pending_queue_read(&python.queue, &python.target), 0);
    assert_int_equal(cunei_pending_queue_count(&python.queue), 3);
    assert_int_equal(cunei_pending_queue_at(&python.queue, 2).function, 0x1234);
    assert_int_equal(cunei_pending_queue_pop(&python.queue), 0);

    put(INTERPRETER + CALLS_TO_DO, 0, 4);
    put(INTERPRETER + BREAKER, 0, 4);
    assert_memory_equal(python.runtime, python.before, sizeof(python.runtime));
}

static void a_text_without_room_is_refused(void **state)
{
    (void)state;
    static const struct {
        uint32_t first, next;
        int rc;
    } cases[] = {
        {7, 7, 0},
        {0, 1, 0},
        {0, 8, 0},
        {0, 9, -EAGAIN},
        {30, 31, -EAGAIN},
        {20, 4, -EAGAIN},
        /* it wraps around */ {31, 31, 0},
    };
    char text[14 * 16 + 1] = "a text for 15 slots; 8 others have to stay free";
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint64_t address;
        put(INTERPRETER + FIRST, cases[i].first, 4);
        put(INTERPRETER + NEXT, cases[i].next, 4);
        assert_int_equal(cunei_pending_queue_read(&python.queue, &python.target), 0);
        memcpy(python.before, python.runtime, sizeof(python.runtime));

        assert_int_equal(
            cunei_pending_queue_place(&python.queue, text, sizeof(text), &address),
            cases[i].rc);

        if (cases[i].rc < 0)
            assert_memory_equal(python.runtime, python.before, sizeof(python.runtime));
    }
}

/* As after a thread that had computed it before has stored it. */
static void an_eval_breaker_that_was_cleared_is_set_again(void **state)
{
    (void)state;
    assert_int_equal(cunei_pending_queue_read(&python.queue, &python.target), 0);
    assert_int_equal(cunei_pending_queue_remind(&python.queue), 0);
    assert_int_equal(get(BREAKER), 0);

    put(INTERPRETER + CALLS_TO_DO, 1, 4);
    assert_int_equal(cunei_pending_queue_read(&python.queue, &python.target), 0);
    assert_int_equal(cunei_pending_queue_remind(&python.queue), 0);
    assert_int_equal(get(BREAKER), 1);
}

#define TEST(function) cmocka_unit_test_setup(function, set_up)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_empty_queue_is_read),
        TEST(what_is_not_as_it_must_be_is_refused),
        TEST(other_versions_are_not_known),
        TEST(a_call_is_added_and_signalled),
        TEST(a_call_behind_others_is_removed),
        TEST(a_text_without_room_is_refused),
        TEST(an_eval_breaker_that_was_cleared_is_set_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
