// SPDX-License-Identifier: MIT
#include "rt/hidden_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "python/refusal_reason.h"
#include "rt/run_in_child.h"
#include "wire/live_place.h"

#define PRIVATE_MODE 0700

bool cunei_hidden_file_is_own(const char *path, mode_t rights)
{
    struct stat status;

    return lstat(path, &status) == 0 && S_ISDIR(status.st_mode) &&
           status.st_uid == geteuid() && (status.st_mode & rights) == 0;
}

bool cunei_hidden_file_is_private(const char *path)
{
    if (mkdir(path, PRIVATE_MODE) < 0 && errno != EEXIST)
        return false;
    return cunei_hidden_file_is_own(path, 077);
}

char *cunei_hidden_file_memory_folder(void)
{
    char *path = NULL;

    if (asprintf(&path, CUNEI_LIVE_MEMORY_FOLDER, (unsigned)geteuid()) < 0)
        return NULL;
    if (cunei_hidden_file_is_private(path))
        return path;
    free(path);
    return NULL;
}

bool cunei_hidden_file_cannot_map(int rc)
{
    return rc == -ENODEV || rc == -EOPNOTSUPP || rc == -EINVAL || rc == -EACCES;
}

int cunei_hidden_file_use_memory(struct cunei_hidden_file *file, pid_t pid,
                                 uint64_t number)
{
    char *path = NULL;

    char *folder = cunei_hidden_file_memory_folder();
    if (!folder)
        return -CUNEI_REFUSAL_MEMORY;
    int length = asprintf(&path, "%s/%s-%d-%llx", folder, file->name + 1, (int)pid,
                          (unsigned long long)number);
    free(folder);
    if (length < 0)
        return -ENOMEM;
    file->path = path;
    return 0;
}

int cunei_hidden_file_open(struct cunei_hidden_file *file, int flags)
{
    struct stat status;

    int fd = file->path ? cunei_safe_open_file(AT_FDCWD, file->path, flags, &status)
                        : cunei_file_open(file->folder, file->name, flags, &status);
    if (fd < 0)
        return fd;
    if (flags & O_EXCL)
        file->id = cunei_file_id_of(&status);
    else if (!cunei_file_id_is(&file->id, &status)) {
        close(fd);
        return -ESTALE;
    }
    return fd;
}

int cunei_hidden_file_map(int fd, uint64_t offset, size_t size, void **memory)
{
    void *mapped =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);
    if (mapped == MAP_FAILED)
        return -errno;
    /* Nothing is there to be read ahead: that alone would take a short process 0.3 ms.
     */
    (void)madvise(mapped, size, MADV_RANDOM);
    *memory = mapped;
    return 0;
}

int cunei_hidden_file_write_place(struct cunei_hidden_file *file)
{
    struct cunei_live_place place = {.id = file->id};
    struct cunei_buffer text = {0};

    if (!file->path)
        return 0;
    (void)snprintf(place.path, sizeof(place.path), "%s", file->path);
    cunei_live_place_format(&place, &text);
    int rc = text.failed ? -ENOMEM
                         : cunei_file_append(file->folder, file->name, text.data,
                                             text.size, &file->place);
    cunei_buffer_fini(&text);
    return rc;
}

static int remove_from_memory(void *context)
{
    const struct cunei_hidden_file *file = context;

    return cunei_safe_remove_path(file->path, &file->id);
}

void cunei_hidden_file_remove(struct cunei_hidden_file *file)
{
    const struct cunei_file_id *here = &file->id;

    if (file->path) {
        int rc = cunei_run_in_child(remove_from_memory, file);
        if (rc < 0 && rc != -ENOENT)
            return;
        here = &file->place.id;
    }
    (void)cunei_file_remove(file->folder, file->name, here);
}

void cunei_hidden_file_forget(struct cunei_hidden_file *file)
{
    free(file->path);
    *file = (struct cunei_hidden_file){0};
}
