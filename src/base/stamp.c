// SPDX-License-Identifier: MIT
#include "base/stamp.h"

#include <sys/stat.h>

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

uint64_t cunei_stamp_read(const char *path)
{
    struct stat status;

    if (stat(path, &status) < 0 || !S_ISREG(status.st_mode))
        return 0;
    uint64_t hash = mix((uint64_t)status.st_size, (uint64_t)status.st_mtim.tv_sec);
    hash = mix(hash, (uint64_t)status.st_mtim.tv_nsec);
    return hash == 0 || hash == CUNEI_STAMP_MIXED ? 1 : hash;
}
