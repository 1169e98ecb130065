// SPDX-License-Identifier: MIT
#include "trace/process/folder_packets.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/safe_open.h"
#include "trace/process/file.h"
#include "wire/live.h"
#include "wire/live_place.h"
#include "wire/ring.h"

int64_t cunei_folder_stream_number(const char *name)
{
    char *end = NULL;

    if (name[0] != 's' || name[1] < '0' || name[1] > '9' ||
        (name[1] == '0' && name[2] != '\0') || strlen(name) > 11)
        return -1;
    unsigned long long number = strtoull(name + 1, &end, 10);
    return *end == '\0' && number < CUNEI_LIVE_STREAMS_MAX ? (int64_t)number : -1;
}

/* Whether there is a live file of a process that has recorded a thread. */
static bool has_live_streams(int folder)
{
    struct cunei_live_place place;
    struct cunei_live head;
    struct stat status;

    int fd = cunei_safe_open_file(folder, CUNEI_LIVE_NAME, O_RDONLY, &status);
    if (fd < 0)
        return false;
    bool has =
        cunei_live_place_read(&place, fd) == 0 ||
        (cunei_trace_file_read(fd, &head, sizeof(head), 0) == (int64_t)sizeof(head) &&
         head.magic == CUNEI_LIVE_MAGIC && head.stream_count > 0);
    close(fd);
    return has;
}

bool cunei_folder_has_packets(int at, const char *path)
{
    bool has = false;

    DIR *folder = cunei_safe_list_folder(at, path);
    if (!folder)
        return false;
    for (struct dirent *entry; !has && (entry = readdir(folder));) {
        struct stat status;
        has =
            cunei_folder_stream_number(entry->d_name) >= 0 &&
            fstatat(dirfd(folder), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
            status.st_size > 0;
    }
    has = has || has_live_streams(dirfd(folder)) ||
          faccessat(dirfd(folder), CUNEI_RING_NAME, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
    closedir(folder);
    return has;
}
