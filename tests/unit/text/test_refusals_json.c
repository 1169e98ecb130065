// SPDX-License-Identifier: MIT
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "python/refusals.h"
#include "text/json.h"
#include "text/refusals_json.h"

static void assert_json(const struct cunei_refusals *refusals, const char *wanted)
{
    char *text = NULL;
    size_t size;
    struct cunei_json json = {.out = open_memstream(&text, &size), .is_line = true};

    assert_non_null(json.out);
    cunei_json_open(&json, NULL, '{');
    cunei_refusals_put_json(refusals, &json);
    cunei_json_close(&json, '}');
    assert_int_equal(cunei_json_end(&json), 0);
    assert_int_equal(fclose(json.out), 0);
    assert_string_equal(text, wanted);
    free(text);
}

static void each_process_is_an_object(void **state)
{
    (void)state;
    struct cunei_refusals refusals = {0};

    assert_json(&refusals, "{\"unrecorded\":[]}\n");
    cunei_refusals_add(&refusals, 1001, ENOSPC);
    cunei_refusals_add(&refusals, 1002, EACCES);

    assert_json(
        &refusals,
        "{\"unrecorded\":[{\"pid\":1001,\"reason\":\"No space left on device\"},"
        "{\"pid\":1002,\"reason\":\"Permission denied\"}]}\n");
    cunei_refusals_fini(&refusals);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_process_is_an_object)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
