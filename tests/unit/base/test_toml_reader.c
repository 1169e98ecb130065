// SPDX-License-Identifier: MIT
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "base/toml_reader.h"

/* "key=text;" for each value: the text in quotes, arrays as [, tables as {.  "!;" for
 * what stands in the table's place. */
static int note(void *context, struct cunei_syntax *syntax,
                const struct cunei_toml_value *value)
{
    struct cunei_buffer *out = context;
    (void)syntax;

    if (!value->key) {
        if (value->kind != CUNEI_TOML_TABLE)
            cunei_buffer_append_text(out, "!;");
        return 0;
    }
    if (!value->in_array)
        cunei_buffer_format(out, "%s=", value->key);
    if (value->kind == CUNEI_TOML_ARRAY || value->kind == CUNEI_TOML_TABLE)
        cunei_buffer_append_text(out, value->kind == CUNEI_TOML_ARRAY ? "[" : "{");
    else if (value->kind == CUNEI_TOML_TEXT)
        cunei_buffer_format(out, "'%s'", value->text);
    else
        cunei_buffer_format(out, "%s%s", value->kind == CUNEI_TOML_FLAG ? "?" : "",
                            value->text);
    cunei_buffer_append_text(out, ";");
    return 0;
}

static const struct {
    const char *text, *seen;
} rows[] = {
    {"", ""},
    {"# nothing\n[tool.cunei]\n", ""},
    {"[tool.cunei]\na = 'x' # y\nb=true\n", "a='x';b=?true;"},
    {"[tool.cunei]\r\na = 1_000\r\nb = -2.5e3\r\n", "a=1_000;b=-2.5e3;"},
    {"[tool.cunei]\na = ['x', \"y\"]\nb = []", "a=[;'x';'y';b=[;"},
    {"[tool.cunei]\na = [ # one\n  'x', # two\n\n  'y',\n]\n", "a=[;'x';'y';"},
    {"[tool.cunei]\na = [['x'], 'y']\n", "a=[;[;'y';"},
    {"[ tool . \"cunei\" ]\na.b = 1\nc = 2\n", "a={;c=2;"},
    {"tool.cunei.a = 1\n[tool]\ncunei.b = 2\n'cunei'.\"c\" = 3\n", "a=1;b=2;c=3;"},
    {"[tool]\ncunei = {a = 'x', b = [1, 2]}\n", "a='x';b=[;1;2;"},
    {"tool = {cunei = {a = true}, other = {b = 1}}\n", "a=?true;"},
    {"[tool.cunei.deeper]\na = 1\n[tool.cunei]\nb = 2\n[other]\nc = 3",
     "deeper={;deeper={;b=2;"},
    {"[[tool.cunei]]\na = 1\n", "!;a=1;"},
    {"tool.cunei = 3\n", "!;"},
    {"[tool]\ncunei = []\n", "!;"},
    {"[[tool.other]]\na = 1\n[tool.cunei]\nb = {c = 1}\n", "b={;"},
    {"x = '''\n[tool.cunei]\na = 1\n'''\ny = \"\"\"\n[tool.cunei]\nb=1\"\"\"", ""},
    {"x = ['''\n]''', \"]\", ']']\n[tool.cunei]\na = 1", "a=1;"},
    {"[tool.cunei]\na = \"\"\"\nx \"\"y\"\"\"\"\nb='''c'd'''\n",
     "a='x \"\"y\"';b='c'd';"},
    {"[tool.cunei]\na = \"\"\"x \\\n    y\"\"\"\nb = 'x\\y'\n", "a='x y';b='x\\y';"},
    {"[tool.cunei]\na = \"\\u00e4\\U0001F600\\t\\\"\\x41\"\n",
     "a='\xc3\xa4\xf0\x9f\x98\x80\t\"A';"},
    {"[tool.cunei]\na = 1979-05-27 07:32:00Z\nb = 1979-05-27\nc = inf\n",
     "a=1979-05-27 07:32:00Z;b=1979-05-27;c=inf;"},
    {"[tool.cunei]\n\"a\\nb\" = 1\n[\"tool\\ncunei\"]\nc = 1\n", "a\nb=1;"},
    {"\xef\xbb\xbf[tool.cunei]\na = ''\n", "a='';"},
};

static void values_of_the_table_are_reported_and_nothing_else(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct cunei_buffer seen = {0};
        struct cunei_syntax_error error;

        int rc = cunei_toml_parse(rows[i].text, strlen(rows[i].text), "tool.cunei",
                                  note, &seen, &error);

        if (rc != 0 || strcmp(seen.data ? seen.data : "", rows[i].seen) != 0)
            fail_msg("%s: got %d, %s (%zu:%zu: %s)", rows[i].text, rc, seen.data,
                     error.line, error.column, error.text);
        cunei_buffer_fini(&seen);
    }
}

static const struct {
    const char *text;
    size_t line, column;
    const char *message;
} bad[] = {
    {"a", 1, 2, "expected '=' after the key, but the file ends"},
    {"a = \n", 1, 5,
     "expected a value: a string in quotes, a number, true, false, an array or a table, "
     "but the line ends"},
    {"a = yes\n", 1, 5,
     "expected a value: a string in quotes, a number, true, false, an array or a table, "
     "not 'y'"},
    {"a = 'x\nb = 1\n", 1, 7,
     "expected \"'\" at the end of the string, but the line ends"},
    {"a = \"\"\"x", 1, 9,
     "expected three quotes at the end of the string, but the file ends"},
    {"\n[a\n", 2, 3, "expected ']', but the line ends"},
    {"[[a]\n", 1, 4, "expected ']]', not ']'"},
    {"[a] b\n", 1, 5, "expected the end of the line, not 'b'"},
    {"a = 1 2\n", 1, 7, "expected the end of the line, not '2'"},
    {"a = ['x' 'y']\n", 1, 10, "expected ',' or ']', not '''"},
    {"a = {b = 1", 1, 11, "expected ',' or '}', but the file ends"},
    {"= 1\n", 1, 1, "expected a key, not '='"},
    {"a = \"\\q\"\n", 1, 7,
     "expected one of b t n f r e u U x \" \\ after the backslash (in '\xe2\x80\xa6' a "
     "backslash is literal), not 'q'"},
    {"a = \"\\ud800\"\n", 1, 6, "a string must not contain this character"},
    {"a = '\xc3\xa4\xff'\n", 1, 7, "expected UTF-8, not byte 0xff"},
};

static void errors_are_reported_with_their_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct cunei_buffer seen = {0};
        struct cunei_syntax_error error;

        int rc = cunei_toml_parse(bad[i].text, strlen(bad[i].text), "tool.cunei", note,
                                  &seen, &error);

        if (rc != -EINVAL || error.line != bad[i].line ||
            error.column != bad[i].column || strcmp(error.text, bad[i].message) != 0)
            fail_msg("%s: got %d, %zu:%zu: %s", bad[i].text, rc, error.line,
                     error.column, error.text);
        cunei_buffer_fini(&seen);
    }
}

static void values_in_each_other_have_an_end(void **state)
{
    char text[400] = "a=";
    struct cunei_buffer seen = {0};
    struct cunei_syntax_error error;
    (void)state;

    memset(text + 2, '[', 300);

    assert_int_equal(
        cunei_toml_parse(text, strlen(text), "tool.cunei", note, &seen, &error),
        -EINVAL);
    assert_string_equal(error.text, "values are nested deeper than 100");
    cunei_buffer_fini(&seen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_of_the_table_are_reported_and_nothing_else),
        cmocka_unit_test(errors_are_reported_with_their_place),
        cmocka_unit_test(values_in_each_other_have_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
