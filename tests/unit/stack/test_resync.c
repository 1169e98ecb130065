// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "stack/resync.h"

#define A (CUNEI_FUNCTION_FIRST + 0)
#define B (CUNEI_FUNCTION_FIRST + 1)
#define C (CUNEI_FUNCTION_FIRST + 2)
#define R (CUNEI_FUNCTION_FIRST + 3) /* regions */
#define S (CUNEI_FUNCTION_FIRST + 4)

static const uint8_t kinds_of[] = {
    CUNEI_DEFINITION_FUNCTION, CUNEI_DEFINITION_FUNCTION, CUNEI_DEFINITION_FUNCTION,
    CUNEI_DEFINITION_REGION,   CUNEI_DEFINITION_REGION,
};
static const struct cunei_id_kinds kinds = {kinds_of, sizeof(kinds_of)};

/* A stack that writes down what happens to it, a letter each. */
struct stack {
    uint32_t functions[16];
    uint32_t depth;
    char log[64];
};

static const char letters[] = "ABCRS";

static char letter_of(uint32_t function)
{
    if (function == 0)
        return '?';
    return letters[function - CUNEI_FUNCTION_FIRST];
}

static void note(struct stack *stack, char what, uint32_t function)
{
    char text[4] = {what, letter_of(function), ' ', 0};
    strncat(stack->log, text, sizeof(stack->log) - strlen(stack->log) - 1);
}

static uint32_t depth_of(const void *context)
{
    return ((const struct stack *)context)->depth;
}

static uint32_t function_at(const void *context, uint32_t depth)
{
    return ((const struct stack *)context)->functions[depth - 1];
}

static bool is_region_at(const void *context, uint32_t depth)
{
    return cunei_id_kinds_is_region(&kinds, function_at(context, depth));
}

static uint32_t run_at(const void *context, uint32_t depth)
{
    uint32_t function = function_at(context, depth), run = 0;

    for (; depth > 0; depth--) {
        if (is_region_at(context, depth))
            continue;
        if (function_at(context, depth) != function)
            break;
        run++;
    }
    return run;
}

static bool is_open(const void *context, uint32_t function)
{
    bool is = false;
    for (uint32_t i = depth_of(context); i > 0 && !is; i--)
        is = function_at(context, i) == function;
    return is;
}

static int leave_top(void *context, const struct cunei_resync_leave *leave)
{
    struct stack *stack = context;
    note(stack, '-', leave->function);
    stack->depth--;
    return 0;
}

static int miss(void *context, bool is_sync)
{
    struct stack *stack = context;
    (void)is_sync;
    note(stack, '!', stack->functions[--stack->depth]);
    return 0;
}

static int put_aside(void *context, void *frame, bool is_sync)
{
    struct stack *stack = context;
    (void)is_sync;
    *(uint32_t *)frame = stack->functions[--stack->depth];
    note(stack, '<', *(uint32_t *)frame);
    return 0;
}

static int put_back(void *context, const void *frame, bool is_sync)
{
    struct stack *stack = context;
    (void)is_sync;
    note(stack, '>', *(const uint32_t *)frame);
    stack->functions[stack->depth++] = *(const uint32_t *)frame;
    return 0;
}

static int name_frame(void *context, uint32_t depth, uint32_t function)
{
    struct stack *stack = context;
    if (stack->functions[depth - 1] == 0 && function != 0) {
        note(stack, '=', function);
        stack->functions[depth - 1] = function;
    }
    return 0;
}

static void name_aside(void *frame, uint32_t function)
{
    *(uint32_t *)frame = function;
}

static int find(void *context, uint32_t function)
{
    struct stack *stack = context;
    note(stack, '+', function);
    stack->functions[stack->depth++] = function;
    return 0;
}

static const struct cunei_resync_methods methods = {
    .frame_size = sizeof(uint32_t),
    .depth = depth_of,
    .function = function_at,
    .is_region = is_region_at,
    .run = run_at,
    .is_open = is_open,
    .leave = leave_top,
    .miss = miss,
    .put_aside = put_aside,
    .put_back = put_back,
    .name = name_frame,
    .name_aside = name_aside,
    .find = find,
};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

struct leave_case {
    uint32_t open[6]; /* 0 ends it, but for the first */
    struct cunei_resync_leave leave;
    const char *log;
};

static struct stack stack_of(const uint32_t *functions)
{
    struct stack stack = {.depth = 0};
    for (uint32_t i = 0; i < 6 && (functions[i] != 0 || i == 0); i++)
        stack.functions[stack.depth++] = functions[i];
    return stack;
}

static void a_leave_ends_the_frame_that_it_is_of(void **state)
{
    static const struct leave_case cases[] = {
        {{A, B}, {B, 0}, "-B "},
        {{A, B}, {A, 0}, "!B -A "},
        {{A, B}, {C, 0}, ""},
        {{0, B}, {C, 0}, ""},
        {{0}, {C, 0}, "-C "},
        {{0, R}, {C, 0}, "<R -C >R "},
        {{A, R}, {A, 0}, "<R -A >R "},
        {{R, A, B}, {R, 0}, "<B <A -R >A >B "},
        {{A, R, B, S}, {A, 0}, "<S !B <R -A >R >S "},
        {{A, B}, {S, 0}, ""},
        {{A, A, A}, {A, 2}, "!A -A "},
        {{A, A, A}, {A, 3}, "-A "},
        {{B, A, A}, {A, 3}, ""},
        {{0, A, A}, {A, 3}, "-A "},
        {{A, R, A}, {A, 1}, "!A <R -A >R "},
        {{A, B}, {A, 1}, ""},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct stack stack = stack_of(cases[i].open);
        const struct cunei_resync_leave *leave = &cases[i].leave;
        uint32_t depth = cunei_resync_left_depth(
            &methods, &stack, leave, cunei_id_kinds_is_region(&kinds, leave->function));

        if (depth > 0)
            assert_int_equal(cunei_resync_leave_at(&methods, &stack, leave, depth), 0);

        assert_string_equal(stack.log, cases[i].log);
    }
}

struct stack_case {
    uint32_t open[6];
    uint32_t hidden;
    uint32_t view[6];
    const char *log;
};

static void a_stack_event_says_what_is_open(void **state)
{
    static const struct stack_case cases[] = {
        {{A, B}, 0, {A, B}, ""},
        {{A, B}, 0, {A, C}, "!B +C "},
        {{A, B, C}, 0, {A}, "!C !B "},
        {{A}, 0, {A, B, C}, "+B +C "},
        {{0, B}, 0, {A, B}, "=A "},
        {{A, B}, 1, {B}, ""},
        {{A, B}, 2, {C}, "+C "},
        {{A, R, B}, 0, {A, B, R}, "<B <R >B >R "},
        {{A, R, B}, 0, {A, R}, "!B "},
        {{A, R, B}, 0, {R, A, C}, "!B <R <A >R >A +C "},
        {{0, R}, 0, {R, A}, "<R <? >R >A "},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct stack stack = stack_of(cases[i].open), wanted = stack_of(cases[i].view);
        const struct cunei_stack_view view = {.functions = cases[i].view,
                                              .hidden = cases[i].hidden,
                                              .depth = cases[i].hidden + wanted.depth,
                                              .end = CUNEI_FUNCTION_END};

        assert_int_equal(cunei_resync_stack(&methods, &stack, &kinds, &view), 0);

        assert_string_equal(stack.log, cases[i].log);
        assert_int_equal(stack.depth, view.depth);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_leave_ends_the_frame_that_it_is_of),
        cmocka_unit_test(a_stack_event_says_what_is_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
