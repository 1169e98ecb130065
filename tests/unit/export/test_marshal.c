// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "export/marshal.h"

static void expect(struct cunei_buffer *out, const char *bytes, size_t size)
{
    assert_false(out->failed);
    assert_int_equal(out->size, size);
    assert_memory_equal(out->data, bytes, size);
    cunei_buffer_fini(out);
}

#define EXPECT(out, bytes) expect(out, bytes, sizeof(bytes) - 1)

static void a_small_number_is_an_int_of_four_bytes(void **state)
{
    struct cunei_buffer out = {0};

    (void)state;
    cunei_marshal_number(&out, 0x01020304);
    EXPECT(&out, "i\x04\x03\x02\x01");
    cunei_marshal_number(&out, INT32_MAX);
    EXPECT(&out, "i\xff\xff\xff\x7f");
}

/* What marshal.dumps(2**31) and marshal.dumps(2**64 - 1) give. */
static void a_big_number_has_digits_of_fifteen_bits(void **state)
{
    struct cunei_buffer out = {0};

    (void)state;
    cunei_marshal_number(&out, UINT64_C(1) << 31);
    EXPECT(&out, "l\x03\0\0\0\0\0\0\0\x02\0");
    cunei_marshal_number(&out, UINT64_MAX);
    EXPECT(&out, "l\x05\0\0\0\xff\x7f\xff\x7f\xff\x7f\xff\x7f\x0f\0");
}

static void seconds_are_a_double(void **state)
{
    struct cunei_buffer out = {0};

    (void)state;
    cunei_marshal_seconds(&out, 1500000000);
    EXPECT(&out, "g\0\0\0\0\0\0\xf8\x3f");
}

static void text_that_is_no_utf8_is_escaped_as_python_does(void **state)
{
    struct cunei_buffer out = {0};

    (void)state;
    cunei_marshal_text(&out, "\xc3\xa9", 2);
    EXPECT(&out, "u\x02\0\0\0\xc3\xa9");
    /* os.fsdecode(b"a\xff") is "a\udcff". */
    cunei_marshal_text(&out, "a\xff", 2);
    EXPECT(&out, "u\x04\0\0\0a\xed\xb3\xbf");
}

/* What marshal.dumps({k: 1, 2: k}) gives for k = (3,), but for what else is marked. */
static void a_marked_tuple_can_be_meant_again(void **state)
{
    struct cunei_buffer out = {0};

    (void)state;
    cunei_marshal_dict(&out);
    cunei_marshal_tuple(&out, 1, true);
    cunei_marshal_number(&out, 3);
    cunei_marshal_number(&out, 1);
    cunei_marshal_number(&out, 2);
    cunei_marshal_again(&out, 0);
    cunei_marshal_dict_end(&out);
    EXPECT(&out, "{\xa9\x01i\x03\0\0\0i\x01\0\0\0i\x02\0\0\0r\0\0\0\0"
                 "0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_small_number_is_an_int_of_four_bytes),
        cmocka_unit_test(a_big_number_has_digits_of_fifteen_bits),
        cmocka_unit_test(seconds_are_a_double),
        cmocka_unit_test(text_that_is_no_utf8_is_escaped_as_python_does),
        cmocka_unit_test(a_marked_tuple_can_be_meant_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
