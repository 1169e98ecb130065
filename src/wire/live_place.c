// SPDX-License-Identifier: MIT
#include "wire/live_place.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIRST_LINE "cunei live file in memory\n"

void cunei_live_place_format(const struct cunei_live_place *place,
                             struct cunei_buffer *out)
{
    cunei_buffer_format(
        out, FIRST_LINE "device %" PRIu64 "\ninode %" PRIu64 "\npath %s\n",
        (uint64_t)place->id.device, (uint64_t)place->id.inode, place->path);
}

/* Step over `word`, if `*at` begins with it. */
static bool take_word(const char **at, const char *word)
{
    size_t length = strlen(word);

    if (strncmp(*at, word, length) != 0)
        return false;
    *at += length;
    return true;
}

static bool take_number(const char **at, uint64_t *number)
{
    char *end = NULL;

    if (**at < '0' || **at > '9')
        return false;
    *number = strtoull(*at, &end, 10);
    *at = end;
    return true;
}

/* Whether it is a live file or a ring in a user's folder in memory. */
static bool is_in_memory(const char *path)
{
    uint64_t user = 0;

    return take_word(&path, "/dev/shm/cunei-") && take_number(&path, &user) &&
           (take_word(&path, "/live-") || take_word(&path, "/ring-")) && *path &&
           !strchr(path, '/');
}

int cunei_live_place_parse(struct cunei_live_place *place, const char *text,
                           size_t size)
{
    struct cunei_live_place found = {0};
    uint64_t device = 0, inode = 0;
    char copy[CUNEI_LIVE_PLACE_MAX + 1];
    const char *at = copy;

    if (size > CUNEI_LIVE_PLACE_MAX || memchr(text, '\0', size))
        return -EINVAL;
    memcpy(copy, text, size);
    copy[size] = '\0';
    if (!take_word(&at, FIRST_LINE "device ") || !take_number(&at, &device) ||
        !take_word(&at, "\ninode ") || !take_number(&at, &inode) ||
        !take_word(&at, "\npath "))
        return -EINVAL;
    size_t length = strcspn(at, "\n");
    if (at[length] != '\n')
        return -EINVAL; /* cut short */
    memcpy(found.path, at, length);
    if (!is_in_memory(found.path))
        return -EINVAL;
    found.id = (struct cunei_file_id){(dev_t)device, (ino_t)inode};
    *place = found;
    return 0;
}

int cunei_live_place_read(struct cunei_live_place *place, int fd)
{
    char text[CUNEI_LIVE_PLACE_MAX + 1]; /* one more: a longer file is none */

    ssize_t size = pread(fd, text, sizeof(text), 0);
    if (size < 0)
        return -errno;
    return cunei_live_place_parse(place, text, (size_t)size);
}
