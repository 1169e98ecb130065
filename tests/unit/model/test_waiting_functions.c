// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/facts/waiting_functions.h"
#include "wire/metadata.h"

static bool waits(const char *module, const char *qualname)
{
    const struct cunei_function function = {.module = module, .qualname = qualname};

    return cunei_is_waiting_function(&function);
}

/* The first and the last row are found only if the table is sorted. */
static void waits_of_the_standard_library_are_known(void **state)
{
    (void)state;
    assert_true(waits("_multiprocessing", "SemLock.acquire"));
    assert_true(waits("concurrent.futures.thread", "_worker"));
    assert_true(waits("multiprocessing.connection", "Connection._recv"));
    assert_true(waits("queue", "Queue.get"));
    assert_true(waits("selectors", "EpollSelector.select"));
    assert_true(waits("subprocess", "Popen._try_wait"));
    assert_true(waits("threading", "Condition.wait"));
    assert_true(waits("threading", "Thread.join"));
    assert_true(waits("time", "sleep"));
}

static void so_are_those_of_servers_and_clients(void **state)
{
    (void)state;
    assert_true(waits("gunicorn.arbiter", "Arbiter.spawn_workers"));
    assert_true(waits("gunicorn.util", "close_graceful"));
    assert_true(waits("multiprocessing.resource_tracker", "main"));
    assert_true(waits("urllib3.util.connection", "create_connection"));
    assert_true(waits("zmq.sugar.poll", "Poller.poll"));
}

static void other_functions_of_these_names_and_modules_work(void **state)
{
    (void)state;
    assert_false(waits("__main__", "wait"));
    assert_false(waits("threading", "Thread.run"));
    assert_false(waits("queue", "Queue.put"));
    assert_false(waits(NULL, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waits_of_the_standard_library_are_known),
        cmocka_unit_test(so_are_those_of_servers_and_clients),
        cmocka_unit_test(other_functions_of_these_names_and_modules_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
