// SPDX-License-Identifier: MIT
/* What is a trigger, and the sentence for what is none. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "trigger/kind.h"
#include "trigger/triggers.h"

static void each_form_is_parsed(void **state)
{
    (void)state;
    static const struct {
        const char *text, *kind, *argument;
        uint64_t limit_ns;
    } rows[] = {
        {"exception:ValueError", "exception", "ValueError", 0},
        {"exception:*Error", "exception", "*Error", 0},
        {"slow:app:handle>50ms", "slow", "app:handle", 50000000},
        {"slow::<lambda>>1.5s", "slow", ":<lambda>", 1500000000},
        {"slow:re:^app>10us", "slow", "re:^app", 10000},
        {"lag>100ms", "lag", NULL, 100000000},
        {"mark:paid: late", "mark", "paid: late", 0},
        {"exit!=0", "exit", NULL, 0},
        {"crash", "crash", NULL, 0},
    };
    struct cunei_triggers triggers = {0};
    struct cunei_buffer reason = {0};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(cunei_triggers_add(&triggers, rows[i].text, &reason), 0);

        const struct cunei_trigger *trigger = &triggers.items[i];
        assert_string_equal(trigger->text, rows[i].text);
        assert_string_equal(trigger->kind->name, rows[i].kind);
        assert_int_equal(trigger->limit_ns, rows[i].limit_ns);
        if (rows[i].argument)
            assert_string_equal(trigger->argument, rows[i].argument);
        else
            assert_null(trigger->argument);
    }
    assert_int_equal(reason.size, 0);
    cunei_triggers_fini(&triggers);
}

static void what_is_none_is_refused_with_a_reason(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"", "there is no trigger ''"},
        {"Crash", "there is no trigger 'Crash'"},
        {"excepton:X", "a trigger is one of exception:TYPE, slow:PATTERN>TIME"},
        {"exception", "not of the form exception:TYPE"},
        {"exception:", "for example exception:ValueError"},
        {"exception>5ms", "not of the form exception:TYPE"},
        {"slow:f", "not of the form slow:PATTERN>TIME"},
        {"slow:>5ms", "not of the form slow:PATTERN>TIME"},
        {"slow>5ms", "not of the form slow:PATTERN>TIME"},
        {"slow:f>5", "needs a time after the '>'"},
        {"slow:f>", "needs a time after the '>'"},
        {"slow:re:(>5ms", "the pattern of the trigger 'slow:re:(>5ms' is not valid"},
        {"lag", "not of the form lag>TIME"},
        {"lag>fast", "not 'fast'"},
        {"lag>-5ms", "not '-5ms'"},
        {"mark:[a", "the pattern of the trigger 'mark:[a' is not valid"},
        {"exit", "not of the form exit!=0"},
        {"exit!=1", "not of the form exit!=0"},
        {"crash:SIGSEGV", "not of the form crash"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct cunei_triggers triggers = {0};
        struct cunei_buffer reason = {0};
        assert_int_equal(cunei_triggers_add(&triggers, rows[i][0], &reason), -EINVAL);
        if (!strstr(cunei_buffer_text(&reason), rows[i][1]))
            fail_msg("got: %s\nwanted: %s", cunei_buffer_text(&reason), rows[i][1]);
        assert_int_equal(triggers.count, 0);
        cunei_triggers_fini(&triggers);
        cunei_buffer_fini(&reason);
    }
}

static void there_are_not_more_than_a_set_holds(void **state)
{
    (void)state;
    struct cunei_triggers triggers = {0};
    struct cunei_buffer reason = {0};

    for (unsigned i = 0; i < CUNEI_TRIGGERS_MAX; i++)
        assert_int_equal(cunei_triggers_add(&triggers, "crash", &reason), 0);
    assert_int_equal(cunei_triggers_add(&triggers, "crash", &reason), -EINVAL);

    assert_string_equal(reason.data, "at most 32 triggers are possible");
    cunei_triggers_fini(&triggers);
    cunei_buffer_fini(&reason);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_form_is_parsed),
        cmocka_unit_test(what_is_none_is_refused_with_a_reason),
        cmocka_unit_test(there_are_not_more_than_a_set_holds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
