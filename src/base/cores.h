// SPDX-License-Identifier: MIT
#ifndef CUNEI_BASE_CORES_H
#define CUNEI_BASE_CORES_H

/*
 * The number of cores that the calling thread may run on, at least 1.  Under `taskset`,
 * in a batch job or a container these are fewer than the machine has.
 */
unsigned cunei_cores(void);

#endif
