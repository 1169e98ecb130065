// SPDX-License-Identifier: MIT
#include "rt/clock.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

enum counter {
    COUNTER_UNKNOWN,
    COUNTER_FIT,
    COUNTER_NOT_INVARIANT,
    COUNTER_DISTRUSTED,
};

/* A kernel that gave the counter up as its clock has seen it out of step. */
static bool kernel_distrusts_counter(void)
{
    static const char path[] =
        "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    char name[32] = "";

    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    if (read(fd, name, sizeof(name) - 1) < 0)
        name[0] = '\0';
    close(fd);
    return strncmp(name, "hpet", 4) == 0 || strncmp(name, "acpi_pm", 7) == 0 ||
           strncmp(name, "jiffies", 7) == 0;
}

static enum counter judge_counter(void)
{
#if defined(__x86_64__)
    unsigned eax, ebx, ecx, edx;
    const unsigned invariant_bit = 1u << 8;

    if (!__get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx) || !(edx & invariant_bit))
        return COUNTER_NOT_INVARIANT;
    return kernel_distrusts_counter() ? COUNTER_DISTRUSTED : COUNTER_FIT;
#elif defined(__aarch64__)
    return COUNTER_FIT; /* the architecture promises it */
#else
    return COUNTER_NOT_INVARIANT;
#endif
}

bool cunei_clock_has_counter(const char **reason)
{
    static _Atomic int known = COUNTER_UNKNOWN;
    int counter = atomic_load_explicit(&known, memory_order_relaxed);

    if (counter == COUNTER_UNKNOWN) {
        counter = (int)judge_counter();
        atomic_store_explicit(&known, counter, memory_order_relaxed);
    }
    if (reason)
        *reason = counter == COUNTER_NOT_INVARIANT
                      ? "the processor has no invariant time-stamp counter"
                  : counter == COUNTER_DISTRUSTED
                      ? "the kernel does not trust the time-stamp counter"
                      : NULL;
    return counter == COUNTER_FIT;
}

uint64_t cunei_clock_read(void)
{
    return cunei_clock_has_counter(NULL) ? cunei_clock_counter()
                                         : cunei_clock_ns(CLOCK_MONOTONIC);
}

struct cunei_clock_pair cunei_clock_pair(void)
{
    struct cunei_clock_pair best = {0};
    uint64_t narrowest = UINT64_MAX;

    /* The narrowest of a few tries: an interrupt may fall between the readings. */
    for (int i = 0; i < 5; i++) {
        uint64_t before = cunei_clock_read();
        uint64_t monotonic_ns = cunei_clock_ns(CLOCK_MONOTONIC);
        uint64_t after = cunei_clock_read();
        if (after - before >= narrowest)
            continue;
        narrowest = after - before;
        best.tick = before + narrowest / 2;
        best.monotonic_ns = monotonic_ns;
        best.wall_ns = cunei_clock_ns(CLOCK_REALTIME);
        best.wall_ns -= cunei_clock_ns(CLOCK_MONOTONIC) - monotonic_ns;
    }
    return best;
}

uint64_t cunei_clock_frequency(const struct cunei_clock_pair *first,
                               const struct cunei_clock_pair *second)
{
    uint64_t elapsed_ns = second->monotonic_ns - first->monotonic_ns;

    if (second->monotonic_ns < first->monotonic_ns || elapsed_ns < 1000000 ||
        second->tick <= first->tick)
        return 0;
    if (!cunei_clock_has_counter(NULL))
        return CUNEI_NS_PER_S;
    unsigned __int128 ticks = second->tick - first->tick;
    return (uint64_t)((ticks * CUNEI_NS_PER_S + elapsed_ns / 2) / elapsed_ns);
}

uint64_t cunei_clock_calibrate(unsigned microseconds)
{
    if (!cunei_clock_has_counter(NULL))
        return CUNEI_NS_PER_S;

    struct cunei_clock_pair first = cunei_clock_pair();
    struct cunei_clock_pair second;
    const uint64_t wait_ns = (uint64_t)microseconds * 1000;
    do {
        struct timespec wait = {.tv_nsec = 200000};
        (void)nanosleep(&wait, NULL);
        second = cunei_clock_pair();
    } while (second.monotonic_ns - first.monotonic_ns < wait_ns);
    return cunei_clock_frequency(&first, &second);
}
