// SPDX-License-Identifier: MIT
#include "base/cores.h"

#include <sched.h>
#include <unistd.h>

unsigned cunei_cores(void)
{
    cpu_set_t allowed;

    if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0)
        return (unsigned)CPU_COUNT(&allowed);
    /* A machine of more cores than the set has room for. */
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores > 0 ? (unsigned)cores : 1;
}
