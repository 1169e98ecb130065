// SPDX-License-Identifier: MIT
#include "trace/live/writer_alive.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define HOST_MAX 256

bool cunei_trace_is_this_boot(const uint8_t boot_id[16])
{
    char text[64] = "";
    size_t digits = 0;

    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (!file)
        return false;
    if (!fgets(text, sizeof(text), file))
        text[0] = '\0';
    (void)fclose(file);

    for (const char *c = text; *c; c++) {
        static const char hex[] = "0123456789abcdef";
        const char *digit = strchr(hex, *c);
        if (!digit)
            continue;
        unsigned nibble = boot_id[digits / 2] >> (digits % 2 ? 0 : 4) & 15;
        if (digits == 32 || nibble != (unsigned)(digit - hex))
            return false;
        digits++;
    }
    return digits == 32;
}

bool cunei_trace_is_this_host(const char *host)
{
    char own[HOST_MAX] = "";
    return gethostname(own, sizeof(own) - 1) == 0 && strcmp(own, host) == 0;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/*
 * Whether a line of /proc/PID/maps is a mapping of the file, by device and inode; but
 * overlay and btrfs show another device there than stat(2) does, so an inode of the
 * same name counts as well.
 */
static bool is_mapping(char *line, const char *name, const struct stat *file)
{
    char range[64], rights[8], offset[32];
    char device_major[16], device_minor[16], inode[32];
    int read = 0;

    line[strcspn(line, "\n")] = '\0';
    if (sscanf(line, "%63s %7s %31s %15[0-9a-f]:%15[0-9a-f] %31s %n", range, rights,
               offset, device_major, device_minor, inode, &read) < 6 ||
        strtoull(inode, NULL, 10) != file->st_ino)
        return false;
    if (makedev(strtoul(device_major, NULL, 16), strtoul(device_minor, NULL, 16)) ==
        file->st_dev)
        return true;
    const char *mapped = base_name(line + read);
    size_t length = strlen(name);
    return strncmp(mapped, name, length) == 0 &&
           (mapped[length] == '\0' || strcmp(mapped + length, " (deleted)") == 0);
}

bool cunei_trace_is_mapped(uint32_t pid, const char *path, const struct stat *file)
{
    char maps[64];
    char *line = NULL, *resolved = NULL;
    size_t capacity = 0;
    bool found = false;

    if (pid == 0 || pid > INT32_MAX)
        return false;
    (void)snprintf(maps, sizeof(maps), "/proc/%" PRIu32 "/maps", pid);
    FILE *lines = fopen(maps, "re");
    if (!lines)
        return errno != ENOENT && (kill((pid_t)pid, 0) == 0 || errno == EPERM);

    resolved = realpath(path, NULL);
    const char *name = base_name(resolved ? resolved : path);
    while (!found && getline(&line, &capacity, lines) > 0)
        found = is_mapping(line, name, file);
    /* Reading fails half-way when the process ends, or may not be looked at. */
    if (!found && ferror(lines))
        found = kill((pid_t)pid, 0) == 0 || errno == EPERM;
    (void)fclose(lines);
    free(line);
    free(resolved);
    return found;
}
