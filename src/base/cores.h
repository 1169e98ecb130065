// SPDX-License-Identifier: MIT
#ifndef CUNEI_BASE_CORES_H
#define CUNEI_BASE_CORES_H

/*
 * How many cores the calling thread may run on, 1 at least.  Inside of `taskset`, a
 * batch system's job or a container's set of CPUs they are fewer than the machine has.
 */
unsigned cunei_cores(void);

#endif
