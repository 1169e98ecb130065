// SPDX-License-Identifier: MIT
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file_stamp.h"
#include "trace/source_code/source_file.h"

static char path[] = "/tmp/cunei-source-XXXXXX";

static int set_up(void **state)
{
    (void)state;
    (void)snprintf(path, sizeof(path), "/tmp/cunei-source-XXXXXX");
    int fd = mkstemp(path);
    if (fd < 0)
        return -1;
    close(fd);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    (void)unlink(path);
    return 0;
}

static void write_file(const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    (void)fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void blocks_end_where_python_ends_them(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t first, last;
    } rows[] = {
        {"def f():\n    return 1\n\nx = 2\n", 1, 2},
        {"def f(): return 1\nx = 2\n", 1, 1},
        {"def f():\n    return 1", 1, 2},
        {"@a\n@b(\n  1)\ndef f():\n    x = 1\n    # end\n# no\nx = 2\n", 1, 5},
        {"async def f():\n    await g()\ny\n", 1, 2},
        {"class C:\n    def f(self):\n        return (\n1)\n\n    def g(self): pass\n",
         2, 4},
        {"def f():\n    '''text\nno indent\n'''\n    return 1\nz\n", 1, 5},
        {"def f(a='(', b=\"#\"):  # ((\n    return {\n}\nz\n", 1, 3},
        {"def f():\n    x = 1 + \\\n1\n    return x\nz\n", 1, 4},
        {"def f():\n    s = 'it\\'s ('\n    return s\nz\n", 1, 3},
        {"def f():\n    s = 'it\\\nno (indent'\n    return s\nz\n", 1, 4},
        {"x = lambda: 1\ny = 2\n", 1, 1},
        {"def f():\r\n    return 1\r\nx\r\n", 1, 2},
        {"\tdef f():\n\t\treturn 1\n\tx\n", 1, 2},
        {"x\n", 7, 7},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct cunei_source_file source;
        write_file(rows[i].text);
        assert_int_equal(cunei_source_file_read(&source, path), 0);
        uint32_t last = cunei_source_file_block(&source, rows[i].first);
        if (last != rows[i].last)
            fail_msg("row %zu ends at %u, wanted %u", i, (unsigned)last,
                     (unsigned)rows[i].last);
        cunei_source_file_fini(&source);
    }
}

static void lines_come_without_their_breaks(void **state)
{
    (void)state;
    struct cunei_source_file source;
    size_t size = 0;
    write_file("a\r\n\n  bc");

    assert_int_equal(cunei_source_file_read(&source, path), 0);

    assert_int_equal(source.count, 3);
    assert_non_null(cunei_source_file_line(&source, 1, &size));
    assert_int_equal(size, 1);
    assert_non_null(cunei_source_file_line(&source, 2, &size));
    assert_int_equal(size, 0);
    assert_memory_equal(cunei_source_file_line(&source, 3, &size), "  bc", 4);
    assert_int_equal(size, 4);
    assert_int_equal(cunei_source_file_indent(&source, 3), 2);
    assert_null(cunei_source_file_line(&source, 0, &size));
    assert_null(cunei_source_file_line(&source, 4, &size));
    cunei_source_file_fini(&source);
}

static void a_missing_file_and_a_folder_are_no_source(void **state)
{
    (void)state;
    struct cunei_source_file source;

    assert_int_equal(cunei_source_file_read(&source, "/no/such/file.py"), -ENOENT);
    assert_int_equal(cunei_source_file_read(&source, "/tmp"), -EISDIR);
    write_file("");
    assert_int_equal(cunei_source_file_read(&source, path), 0);
    assert_int_equal(source.count, 0);
    cunei_source_file_fini(&source);
}

static uint64_t stamp_of(const char *text, time_t time)
{
    const struct timespec times[2] = {{.tv_sec = time}, {.tv_sec = time}};
    struct cunei_file_stamps stamps = {0};

    write_file(text);
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    return cunei_file_stamp_read(&stamps, path);
}

static void a_stamp_changes_with_the_text_of_its_file(void **state)
{
    (void)state;
    uint64_t first = stamp_of("one", 1000);

    assert_true(first != 0);
    assert_true(stamp_of("two", 1000) != first);
    assert_true(stamp_of("one ", 1000) != first);
    assert_true(stamp_of("one", 2000) == first);
    assert_true(stamp_of("", 1000) != 0);
}

static void a_stamp_goes_by_every_byte(void **state)
{
    (void)state;
    char text[9000];
    memset(text, 'x', sizeof(text));

    for (size_t size = 4090; size < 4100; size++) {
        text[size] = '\0';
        uint64_t whole = stamp_of(text, 1000);
        text[size] = 'x';
        text[size + 1] = '\0';
        assert_true(stamp_of(text, 1000) != whole);
        text[size] = '\0';
        text[size - 1] = 'y';
        assert_true(stamp_of(text, 1000) != whole);
        text[size - 1] = text[size] = text[size + 1] = 'x';
    }
}

static void files_that_are_kept_in_mind_are_read_again_when_they_change(void **state)
{
    (void)state;
    struct cunei_file_stamps stamps = {0};
    write_file("one");
    uint64_t first = cunei_file_stamp_read(&stamps, path);

    assert_true(cunei_file_stamp_read(&stamps, path) == first);
    write_file("another");
    assert_true(cunei_file_stamp_read(&stamps, path) != first);
    assert_true(cunei_file_stamp_read(&stamps, "/tmp") == 0);
    assert_true(cunei_file_stamp_read(&stamps, "/no/such/file.py") == 0);
}

static void a_tab_goes_to_the_next_stop(void **state)
{
    static const struct {
        const char *line, *shown;
    } rows[] = {
        {"\tx = 1\t# one\n", "x = 1   # one"},
        {"x\ty\n", "x       y"},
        {"\xc3\xa9\ty\n", "\xc3\xa9       y"},
        {"   \t \n", ""},
        {"x = 1\r\n", "x = 1"},
    };
    (void)state;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct cunei_source_file source;
        struct cunei_buffer shown = {0};
        write_file(rows[i].line);
        assert_int_equal(cunei_source_file_read(&source, path), 0);
        cunei_source_file_put(&source, 1, &shown);
        assert_string_equal(shown.data ? shown.data : "", rows[i].shown);
        cunei_buffer_fini(&shown);
        cunei_source_file_fini(&source);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(blocks_end_where_python_ends_them),
        TEST(lines_come_without_their_breaks),
        TEST(a_tab_goes_to_the_next_stop),
        TEST(a_missing_file_and_a_folder_are_no_source),
        TEST(a_stamp_changes_with_the_text_of_its_file),
        TEST(a_stamp_goes_by_every_byte),
        TEST(files_that_are_kept_in_mind_are_read_again_when_they_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
