// SPDX-License-Identifier: MIT
/*
 * Descriptors of one thread alone, so that the program sees none of them: they are not
 * in /proc/self/fd, take no number that it counts on, and a program that closes all
 * descriptors does not close them.
 */
#ifndef CUNEI_PROBE_ARMED_OWN_DESCRIPTORS_H
#define CUNEI_PROBE_ARMED_OWN_DESCRIPTORS_H

/*
 * Give the calling thread a table of its own, empty but for /dev/null at 0, 1 and 2.
 * A negative errno: the kernel refuses, and nothing may be opened.
 */
int cunei_own_descriptors_take(void);

#endif
