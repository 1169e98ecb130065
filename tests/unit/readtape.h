// SPDX-License-Identifier: MIT
/* A tape, and the profile of what is on it: for the tests of the model. */
#ifndef CUNEI_TESTS_READTAPE_H
#define CUNEI_TESTS_READTAPE_H

#include "model/profile/profile.h"
#include "packets.h"

static struct tape tape;
static struct cunei_profile profile;
static struct cunei_piece span;

/* A tick is a nanosecond. */
static int set_up(void **state)
{
    static const struct cunei_profile_options options = {
        .function_count = FUNCTION_COUNT, .frequency = 1000000000};

    (void)state;
    tape = (struct tape){0};
    span = (struct cunei_piece){0};
    return cunei_profile_init(&profile, &options);
}

static int tear_down(void **state)
{
    (void)state;
    tape_fini(&tape);
    cunei_piece_fini(&span);
    cunei_profile_fini(&profile);
    return 0;
}

/* In one piece, or in one for each packet: the facts are the same. */
static void read_tape_in(size_t packets_in_a_piece)
{
    for (size_t i = 0; i < tape.count;) {
        struct cunei_piece piece = {0};
        size_t end = i + packets_in_a_piece;
        for (; i < end && i < tape.count; i++)
            assert_int_equal(
                cunei_profile_read(&profile, &piece, &tape.packets[i]->head,
                                   tape.packets[i]->words, tape.packets[i]->count),
                0);
        assert_int_equal(cunei_profile_seal(&profile, &piece), 0);
        assert_int_equal(cunei_profile_join(&profile, &span, &piece), 0);
    }
    assert_int_equal(cunei_piece_finish(&span), 0);
}

static void read_tape(void)
{
    read_tape_in(TAPE_PACKETS);
}

static inline const struct cunei_facts *facts(uint32_t function)
{
    return &profile.functions[function - CUNEI_FUNCTION_FIRST + 1];
}

#endif
