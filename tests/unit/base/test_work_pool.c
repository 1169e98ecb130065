// SPDX-License-Identifier: MIT
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/work_pool.h"

#define PIECES 1000u
#define AHEAD  6u

struct fixture {
    atomic_size_t done, finished;
    size_t delivered;
    size_t farthest; /* ahead of the delivery */
    size_t failing;  /* the piece that fails */
};

static int work(void *context, unsigned worker, size_t piece, size_t *bytes)
{
    struct fixture *fixture = context;

    (void)worker;
    *bytes = 100;
    atomic_fetch_add(&fixture->done, 1);
    return piece == fixture->failing ? -EBADMSG : 0;
}

static int finish(void *context, unsigned worker)
{
    struct fixture *fixture = context;

    (void)worker;
    atomic_fetch_add(&fixture->finished, 1);
    return 0;
}

static int deliver(void *context, size_t piece)
{
    struct fixture *fixture = context;
    size_t ahead = atomic_load(&fixture->done) - fixture->delivered;

    assert_int_equal(piece, fixture->delivered);
    fixture->farthest = ahead > fixture->farthest ? ahead : fixture->farthest;
    fixture->delivered++;
    return 0;
}

static struct cunei_work_pool make_pool(struct fixture *fixture, unsigned workers)
{
    *fixture = (struct fixture){.failing = SIZE_MAX};
    return (struct cunei_work_pool){
        .piece_count = PIECES,
        .worker_count = workers,
        .context = fixture,
        .work = work,
        .finish = finish,
        .deliver = deliver,
        .ahead_max = AHEAD,
        .bytes_max = SIZE_MAX,
    };
}

static void pieces_are_delivered_in_order(void **state)
{
    struct fixture fixture;
    (void)state;

    for (unsigned workers = 1; workers <= 8; workers++) {
        struct cunei_work_pool pool = make_pool(&fixture, workers);

        assert_int_equal(cunei_work_pool_run(&pool), 0);

        assert_int_equal(fixture.delivered, PIECES);
        assert_int_equal(atomic_load(&fixture.finished), workers);
    }
}

static void workers_do_not_get_too_far_ahead(void **state)
{
    struct fixture fixture;
    struct cunei_work_pool pool = make_pool(&fixture, 4);
    (void)state;

    assert_int_equal(cunei_work_pool_run(&pool), 0);
    assert_true(fixture.farthest <= AHEAD);

    /* A piece may be taken by each worker before the bytes of another are known. */
    pool = make_pool(&fixture, 4);
    pool.ahead_max = PIECES;
    pool.bytes_max = 1;
    assert_int_equal(cunei_work_pool_run(&pool), 0);
    assert_true(fixture.farthest <= 5);
}

static void a_failure_ends_all_work(void **state)
{
    struct fixture fixture;
    (void)state;

    for (unsigned workers = 1; workers <= 4; workers++) {
        struct cunei_work_pool pool = make_pool(&fixture, workers);
        fixture.failing = 10;

        assert_int_equal(cunei_work_pool_run(&pool), -EBADMSG);

        assert_true(fixture.delivered <= 10);
        assert_true(atomic_load(&fixture.done) <= 10 + AHEAD);
        assert_int_equal(atomic_load(&fixture.finished), workers);
    }
}

static void without_a_delivery_all_pieces_are_done(void **state)
{
    struct fixture fixture;
    struct cunei_work_pool pool = make_pool(&fixture, 4);
    (void)state;
    pool.deliver = NULL;

    assert_int_equal(cunei_work_pool_run(&pool), 0);

    assert_int_equal(atomic_load(&fixture.done), PIECES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_delivered_in_order),
        cmocka_unit_test(workers_do_not_get_too_far_ahead),
        cmocka_unit_test(a_failure_ends_all_work),
        cmocka_unit_test(without_a_delivery_all_pieces_are_done),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
