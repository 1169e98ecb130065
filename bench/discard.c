// SPDX-License-Identifier: MIT
/*
 * Preloaded into a Python that is measured: while cunei_discard is set, writes of whole
 * packets succeed without being done.  The difference is what writing costs.
 */
#include <stdbool.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#define PACKET_MIN 32768

extern bool cunei_discard;
bool cunei_discard;

ssize_t write(int fd, const void *bytes, size_t size)
{
    if (cunei_discard && size >= PACKET_MIN)
        return (ssize_t)size;
    return (ssize_t)syscall(SYS_write, fd, bytes, size);
}
