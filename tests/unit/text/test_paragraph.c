// SPDX-License-Identifier: MIT
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "text/paragraph.h"

static void check(struct cunei_paragraph *paragraph, const char *wanted)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    assert_int_equal(cunei_paragraph_print(paragraph, out), 0);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(text, wanted);
    free(text);
}

static void put(struct cunei_paragraph *paragraph, const char *before,
                const char *words)
{
    cunei_paragraph_put(paragraph, before, CUNEI_INK_PLAIN, words);
}

static void separators_end_the_line_that_is_full(void **state)
{
    (void)state;
    const struct cunei_style style = {.width = 20};
    struct cunei_paragraph paragraph = {.style = &style, .indent = 2};

    put(&paragraph, " · ", "eight ch");
    put(&paragraph, " · ", "seven c");
    put(&paragraph, " · ", "next");
    put(&paragraph, ", ", "a longer one");

    check(&paragraph, "eight ch · seven c ·\n  next,\n  a longer one\n");
}

static void blanks_are_not_left_at_the_end_of_a_line(void **state)
{
    (void)state;
    const struct cunei_style style = {.width = 12};
    struct cunei_paragraph paragraph = {.style = &style, .indent = 2};

    put(&paragraph, "", "one");
    put(&paragraph, " ", "two");
    put(&paragraph, " ", "1 234 567");

    check(&paragraph, "one two\n  1 234 567\n");
}

static void only_what_is_seen_has_ink(void **state)
{
    (void)state;
    const struct cunei_style style = {.color = true};
    struct cunei_paragraph paragraph = {.style = &style};

    put(&paragraph, "", "one");
    put(&paragraph, " ", "two");
    put(&paragraph, " · ", "three");

    check(&paragraph, "one two\033[2m · \033[0mthree\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(separators_end_the_line_that_is_full),
        cmocka_unit_test(blanks_are_not_left_at_the_end_of_a_line),
        cmocka_unit_test(only_what_is_seen_has_ink),
    };
    (void)setlocale(LC_CTYPE, "C.UTF-8");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
