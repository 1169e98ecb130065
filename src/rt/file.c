// SPDX-License-Identifier: MIT
#include "rt/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "wire/temporary_name.h"

#define RESERVE_FROM (UINT64_C(1) << 20)
#define RESERVE_MAX  (UINT64_C(1) << 24)

int cunei_file_open(struct cunei_folder *folder, const char *name, int flags,
                    struct stat *status)
{
    int at = cunei_folder_enter(folder);
    if (at < 0)
        return at;
    int fd = cunei_safe_open_file(at, name, flags, status);
    close(at);
    return fd;
}

struct removal {
    struct cunei_folder *folder;
    const char *name;
    const struct cunei_file_id *id;
};

static int remove_file(void *context)
{
    const struct removal *removal = context;

    int at = cunei_folder_enter(removal->folder);
    if (at < 0)
        return at;
    int rc = cunei_safe_remove(at, removal->name, removal->id);
    close(at);
    return rc;
}

int cunei_file_remove(struct cunei_folder *folder, const char *name,
                      const struct cunei_file_id *id)
{
    struct removal removal = {folder, name, id};

    return cunei_folder_run(folder, remove_file, &removal);
}

/* Asked first: passing the limit raises SIGXFSZ, which may end the program. */
int cunei_file_check_limit(uint64_t size)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        size > limit.rlim_cur)
        return -EFBIG;
    return 0;
}

static int write_zeros(int fd, uint64_t offset, uint64_t size)
{
    static const char zeros[1 << 16];

    while (size > 0) {
        size_t part = size < sizeof(zeros) ? (size_t)size : sizeof(zeros);
        ssize_t written = pwrite(fd, zeros, part, (off_t)offset);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return written < 0 ? -errno : -ENOSPC;
        offset += (uint64_t)written;
        size -= (uint64_t)written;
    }
    return 0;
}

int cunei_file_allocate(int fd, uint64_t offset, uint64_t size)
{
    int rc = cunei_file_check_limit(offset + size);
    if (rc < 0)
        return rc;
    do
        rc = fallocate(fd, 0, (off_t)offset, (off_t)size) < 0 ? -errno : 0;
    while (rc == -EINTR);
    bool has_no_space = rc == -ENOSPC || rc == -EDQUOT || rc == -EFBIG;
    return rc == 0 || has_no_space ? rc : write_zeros(fd, offset, size);
}

static int write_all(int fd, const void *bytes, size_t size)
{
    const char *at = bytes;

    while (size > 0) {
        ssize_t written = write(fd, at, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return written < 0 ? -errno : -ENOSPC;
        at += written;
        size -= (size_t)written;
    }
    return 0;
}

/* Places are reserved for as much again as there is, within these bounds. */
static void reserve(int fd, size_t size, struct cunei_file_end *end)
{
    uint64_t more = end->length < RESERVE_MAX ? end->length : RESERVE_MAX;

    if (end->length < RESERVE_FROM || end->length + size <= end->reserved ||
        cunei_file_check_limit(end->length + more) < 0)
        return;
    end->reserved =
        fallocate(fd, FALLOC_FL_KEEP_SIZE, (off_t)end->length, (off_t)more) == 0
            ? end->length + more
            : UINT64_MAX; /* not on this file system: do not ask again */
}

/* What is done with a file of the folder, maybe on other descriptors. */
struct work {
    struct cunei_folder *folder;
    const char *name;
    const char *final_name; /* the file gets it afterwards; NULL: it keeps its name */
    int flags;
    int (*with)(int fd, const struct work *work);
    const void *bytes;
    size_t size;
    uint64_t offset;
    struct cunei_file_end *end;
};

static int do_work_at(int at, const struct work *work)
{
    bool makes = work->end && !work->end->is_made;
    struct stat status;

    int fd = cunei_safe_open_file(
        at, work->name, work->flags | (makes ? O_CREAT | O_EXCL : 0), &status);
    if (fd < 0)
        return fd;
    if (makes)
        *work->end =
            (struct cunei_file_end){.is_made = true, .id = cunei_file_id_of(&status)};
    bool is_it = !work->end || cunei_file_id_is(&work->end->id, &status);
    int rc = is_it ? work->with(fd, work) : -ESTALE;
    close(fd);
    if (!work->final_name)
        return rc;
    if (rc == 0 && renameat(at, work->name, at, work->final_name) < 0)
        rc = -errno;
    if (rc < 0)
        (void)unlinkat(at, work->name, 0); /* it was made just now */
    return rc;
}

static int do_work(void *context)
{
    const struct work *work = context;

    int at = cunei_folder_enter(work->folder);
    if (at < 0)
        return at;
    int rc = do_work_at(at, work);
    close(at);
    return rc;
}

static int run(struct work *work)
{
    return cunei_folder_run(work->folder, do_work, work);
}

static int append_bytes(int fd, const struct work *work)
{
    struct cunei_file_end *end = work->end;

    int rc = cunei_file_check_limit(end->length + work->size);
    if (rc == 0) {
        reserve(fd, work->size, end);
        rc = write_all(fd, work->bytes, work->size);
    }
    if (rc == 0)
        end->length += work->size;
    else
        (void)!ftruncate(fd, (off_t)end->length);
    return rc;
}

int cunei_file_append(struct cunei_folder *folder, const char *name, const void *bytes,
                      size_t size, struct cunei_file_end *end)
{
    struct work work = {.folder = folder,
                        .name = name,
                        .flags = O_WRONLY | O_APPEND,
                        .with = append_bytes,
                        .bytes = bytes,
                        .size = size,
                        .end = end};

    return run(&work);
}

static int trim(int fd, const struct work *work)
{
    return ftruncate(fd, (off_t)work->end->length) < 0 ? -errno : 0;
}

void cunei_file_trim(struct cunei_folder *folder, const char *name,
                     struct cunei_file_end *end)
{
    struct work work = {
        .folder = folder, .name = name, .flags = O_WRONLY, .with = trim, .end = end};

    if (end->reserved > end->length && end->reserved != UINT64_MAX)
        (void)run(&work);
}

static int patch(int fd, const struct work *work)
{
    ssize_t written = pwrite(fd, work->bytes, work->size, (off_t)work->offset);
    if (written < 0)
        return -errno;
    return (size_t)written == work->size ? 0 : -EIO;
}

int cunei_file_patch(struct cunei_folder *folder, const char *name, const void *bytes,
                     size_t size, uint64_t offset)
{
    struct work work = {.folder = folder,
                        .name = name,
                        .flags = O_WRONLY,
                        .with = patch,
                        .bytes = bytes,
                        .size = size,
                        .offset = offset};

    int rc = cunei_file_check_limit(offset + size);
    return rc < 0 ? rc : run(&work);
}

int cunei_file_replace(struct cunei_folder *folder, const char *name, const void *bytes,
                       size_t size, struct cunei_file_end *end)
{
    char temporary[64];
    struct cunei_file_end written = {0};
    struct work work = {.folder = folder,
                        .name = temporary,
                        .final_name = name,
                        .flags = O_WRONLY,
                        .with = append_bytes,
                        .bytes = bytes,
                        .size = size,
                        .end = &written};

    (void)snprintf(temporary, sizeof(temporary), CUNEI_TEMPORARY_NAME("%s"), name);
    int rc = run(&work);
    if (rc == 0)
        *end = written;
    return rc;
}
