// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "base/regex_cost.h"

static const char memory[] = "needs too much memory", time[] = "takes too long",
                  reference[] = "references to groups", depth[] = "inside each other";

/* Each was measured: those with a reason took seconds, gigabytes or the stack. */
static const struct {
    const char *expression;
    unsigned copies;    /* of it, one behind the other */
    const char *reason; /* NULL: it is not refused */
} rows[] = {
    {"^app\\.(get|set)_[a-z]*$", 1, NULL},
    {"(^|/)tests?/(.*/)?[^/]*\\.py$", 1, NULL},
    {"\\bfoo\\b.*\\bbar\\b", 1, NULL},
    {"[[:alpha:]_][]{]{1,255}[^]({]\\{999999999", 1, NULL},
    {"(\\w+\\.)*test_\\w{1,64}", 1, NULL},
    {"((a{1,20}){1,20}){1,6}", 1, NULL},
    {"(.*)*", 1, NULL},
    {"a)", 1, NULL},
    {"(^name$)|", 1000, NULL},
    {"name.*|", 1000, NULL},
    {"some plain text ", 1000, NULL},
    {"((a{1,255}){1,255}){1,255}", 1, memory},
    {"a{1,255}{1,255}{1,255}", 1, memory},
    {"a{99999999999999999999}", 1, memory},
    {"((a{255,}){,255}){255}", 1, memory},
    {"a?", 10000, memory},
    {"((((((((((((((((((((a+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+", 1, memory},
    {"a|", 10000, memory},
    {"plain text ", 20000, memory},
    {"(\\b|a)*", 16, time},
    {"((\\b|^|$|\\B)?a?){100}", 1, time},
    {"((\\b|)(\\B|))", 30, time},
    {"((|a){0,2}){19,}", 1, time},
    {"((\\b|$|(|\\B)|(^|)))*", 1, time},
    {"\\b(((a)*){0,18}){36}", 1, time},
    {"(a*)(a*)\\1\\2", 1, reference},
    {"(", 20000, depth},
};

static void costly_expressions_are_refused_and_others_are_not(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct cunei_buffer text = {0};
        size_t bytes = 0;
        for (unsigned copy = 0; copy < rows[i].copies; copy++)
            cunei_buffer_append_text(&text, rows[i].expression);

        const char *reason = cunei_regex_cost(text.data, &bytes);

        const char *found =
            reason && rows[i].reason ? strstr(reason, rows[i].reason) : reason;
        if (!found != !rows[i].reason)
            fail_msg("%s: got '%s', wanted '%s'", rows[i].expression,
                     reason ? reason : "no reason",
                     rows[i].reason ? rows[i].reason : "no reason");
        assert_true(reason || (bytes > 0 && bytes <= CUNEI_REGEX_MAX_BYTES));
        cunei_buffer_fini(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(costly_expressions_are_refused_and_others_are_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
