// SPDX-License-Identifier: MIT
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "wire/live_place.h"

static void a_place_is_read_as_it_was_written(void **state)
{
    (void)state;
    const struct cunei_live_place place = {.id = {26, UINT64_C(1) << 40},
                                           .path = "/dev/shm/cunei-1000/live-4711-2a"};
    struct cunei_buffer text = {0};
    struct cunei_live_place read;

    cunei_live_place_format(&place, &text);

    assert_false(text.failed);
    assert_int_equal(cunei_live_place_parse(&read, text.data, text.size), 0);
    assert_int_equal(read.id.device, place.id.device);
    assert_int_equal(read.id.inode, place.id.inode);
    assert_string_equal(read.path, place.path);
    cunei_buffer_fini(&text);
}

static void other_texts_and_other_places_are_refused(void **state)
{
    (void)state;
#define BEGIN "cunei live file in memory\ndevice 1\ninode 2\npath "
    static const char *const texts[] = {
        "",
        "cuneilve",
        "cunei live file in memory\n",
        "cunei live file in memory\ndevice x\ninode 2\npath /dev/shm/cunei-0/live-1\n",
        BEGIN "\n",
        BEGIN "/dev/shm/cunei-0/live-1", /* cut short */
        BEGIN "/dev/shm/cunei-0/live-\n",
        BEGIN "/dev/shm/cunei-0/live-1/../../../etc/passwd\n",
        BEGIN "/dev/shm/cunei-0/../live-1\n",
        BEGIN "/dev/shm/cunei-root/live-1\n",
        BEGIN "/etc/passwd\n",
        BEGIN "live-1\n",
    };
#undef BEGIN
    char longest[CUNEI_LIVE_PLACE_MAX + 1];
    struct cunei_live_place place;

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        assert_int_equal(cunei_live_place_parse(&place, texts[i], strlen(texts[i])),
                         -EINVAL);
    memset(longest, 'x', sizeof(longest));
    assert_int_equal(cunei_live_place_parse(&place, longest, sizeof(longest)), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_place_is_read_as_it_was_written),
        cmocka_unit_test(other_texts_and_other_places_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
