// SPDX-License-Identifier: MIT
#include "cmd/attach/remote_directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/target_root.h"

#define COPY_SIZE (1u << 20)

static const char *const places[] = {"/tmp", "/var/tmp", "/dev/shm"};

bool cunei_remote_directory_is_shared(const struct cunei_process_facts *process,
                                      const char *path, const struct cunei_file_id *id)
{
    struct stat status;

    int root = cunei_target_root_open(process->pid);
    bool is_shared = root >= 0 && cunei_target_root_look_at(root, path, &status) == 0 &&
                     cunei_file_id_is(id, &status);
    if (root >= 0)
        close(root);
    return is_shared;
}

static void use(struct cunei_remote_directory *remote, int fd,
                const struct stat *status)
{
    remote->fd = fd;
    remote->id = cunei_file_id_of(status);
    (void)snprintf(remote->ours, sizeof(remote->ours), "/proc/self/fd/%d", fd);
}

/* A new folder with this name; the process's user owns it. */
static int make_in(struct cunei_remote_directory *remote, int place, const char *name,
                   const struct cunei_process_facts *process)
{
    struct stat status;

    if (mkdirat(place, name, 0700) < 0)
        return -errno;
    int fd = cunei_safe_open_folder(place, name, &status);
    if (fd < 0)
        return fd;
    int rc = status.st_uid != geteuid() ? -EPERM : 0;
    if (rc == 0 && fchown(fd, process->effective_uid, process->effective_gid) < 0)
        rc = -errno;
    if (rc < 0) {
        close(fd);
        (void)unlinkat(place, name, AT_REMOVEDIR);
        return rc;
    }
    use(remote, fd, &status);
    return 0;
}

static int make_below(struct cunei_remote_directory *remote, int root,
                      const char *folder, const struct cunei_process_facts *process)
{
    struct stat status;
    uint64_t number = 0;
    char name[48];

    if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != sizeof(number))
        return -EAGAIN;
    (void)snprintf(name, sizeof(name), "cunei-attach-%016" PRIx64, number);
    int place = cunei_target_root_open_folder(root, folder, &status);
    if (place < 0)
        return place;
    int rc = make_in(remote, place, name, process);
    close(place);
    if (rc == 0 && asprintf(&remote->path, "%s/%s", folder, name) < 0)
        rc = -ENOMEM;
    return rc;
}

int cunei_remote_directory_make(struct cunei_remote_directory *remote,
                                const struct cunei_process_facts *process,
                                struct cunei_attach_error *error)
{
    int root = cunei_target_root_open(process->pid);
    int rc = root < 0 ? root : -ENOENT;

    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]) && root >= 0 && rc < 0;
         i++)
        rc = make_below(remote, root, places[i], process);
    if (root >= 0)
        close(root);
    if (rc < 0)
        return cunei_attach_fail(error, rc,
                                 "process %d sees other files than this shell, and no "
                                 "directory can be made in its /tmp, /var/tmp or "
                                 "/dev/shm: %s; mount a directory at the same path in "
                                 "both, and name it with -o",
                                 (int)process->pid, strerror(-rc));
    return 0;
}

int cunei_remote_directory_open(struct cunei_remote_directory *remote,
                                const struct cunei_process_facts *process,
                                const char *path, struct cunei_attach_error *error)
{
    struct stat status;
    int root = cunei_target_root_open(process->pid);
    int fd = root < 0 ? root : cunei_target_root_open_folder(root, path, &status);

    if (root >= 0)
        close(root);
    if (fd >= 0 && status.st_uid != process->effective_uid) {
        close(fd);
        fd = -EPERM;
    }
    if (fd < 0)
        return cunei_attach_fail(error, fd,
                                 "cannot open '%s', where process %d records: %s", path,
                                 (int)process->pid, strerror(-fd));
    use(remote, fd, &status);
    remote->path = strdup(path);
    return remote->path ? 0 : -ENOMEM;
}

/* The data between two holes; what is not there is not copied. */
static int copy_range(int from, int to, off_t begin, off_t end, char *bytes)
{
    for (off_t at = begin; at < end;) {
        size_t wanted =
            end - at < (off_t)COPY_SIZE ? (size_t)(end - at) : (size_t)COPY_SIZE;
        ssize_t size = pread(from, bytes, wanted, at);
        if (size <= 0)
            return size < 0 ? -errno : 0;
        for (ssize_t done = 0; done < size;) {
            ssize_t n = pwrite(to, bytes + done, (size_t)(size - done), at + done);
            if (n < 0)
                return -errno;
            done += n;
        }
        at += size;
    }
    return 0;
}

static int copy_data(int from, int to, off_t size)
{
    char *bytes = malloc(COPY_SIZE);
    off_t begin = 0;
    int rc = bytes ? 0 : -ENOMEM;

    while (rc == 0 && (begin = lseek(from, begin, SEEK_DATA)) >= 0 && begin < size) {
        off_t end = lseek(from, begin, SEEK_HOLE);
        if (end <= begin || end > size)
            end = size;
        rc = copy_range(from, to, begin, end, bytes);
        begin = end;
    }
    if (rc == 0 && ftruncate(to, size) < 0)
        rc = -errno;
    free(bytes);
    return rc;
}

static int copy_file(int from, int to, const char *name)
{
    struct stat status, ignored;

    int source = cunei_safe_open_file(from, name, O_RDONLY, &status);
    if (source == -EBADMSG || source == -ELOOP)
        return 0; /* not made by us */
    if (source < 0)
        return source;
    int copy = cunei_safe_open_file(to, name, O_WRONLY | O_CREAT | O_EXCL, &ignored);
    int rc = copy < 0 ? copy : copy_data(source, copy, status.st_size);
    if (copy >= 0)
        close(copy);
    close(source);
    if (rc == 0) {
        const struct cunei_file_id id = cunei_file_id_of(&status);
        (void)cunei_safe_remove(from, name, &id);
    }
    return rc;
}

/* Call `work` for each name in a folder, but . and .. */
static int each_name(int folder, int to, int (*work)(int from, int to, const char *))
{
    DIR *names = cunei_safe_list_folder(folder, ".");
    int rc = names ? 0 : -errno;

    for (struct dirent *entry; names && rc == 0 && (entry = readdir(names));) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            rc = work(folder, to, entry->d_name);
    }
    if (names)
        (void)closedir(names);
    return rc;
}

/* A process's folder; other things are not ours. */
static int copy_folder(int from, int to, const char *name)
{
    struct stat status;

    int source = cunei_safe_open_folder(from, name, &status);
    if (source == -ESTALE)
        return 0;
    if (source < 0)
        return source;
    int rc = mkdirat(to, name, 0700) < 0 ? -errno : 0;
    int copy = rc < 0 ? rc : cunei_safe_open_folder(to, name, &status);
    if (copy >= 0) {
        rc = each_name(source, copy, copy_file);
        close(copy);
    } else
        rc = copy;
    close(source);
    if (rc == 0)
        (void)unlinkat(from, name, AT_REMOVEDIR);
    return rc;
}

/* It may have been moved; then it stays. */
static void remove_empty(const struct cunei_remote_directory *remote)
{
    struct stat status;
    const char *slash = strrchr(remote->path, '/');
    int above = openat(remote->fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (above >= 0 && slash &&
        fstatat(above, slash + 1, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
        cunei_file_id_is(&remote->id, &status))
        (void)unlinkat(above, slash + 1, AT_REMOVEDIR);
    if (above >= 0)
        close(above);
}

int cunei_remote_directory_fetch(const struct cunei_remote_directory *remote,
                                 const char *to, struct cunei_attach_error *error)
{
    struct stat status;
    int ours = cunei_safe_open_folder(AT_FDCWD, to, &status);
    int rc = ours < 0 ? ours : each_name(remote->fd, ours, copy_folder);

    if (ours >= 0)
        close(ours);
    if (rc == 0)
        remove_empty(remote);
    if (rc < 0)
        return cunei_attach_fail(error, rc,
                                 "cannot copy the trace from '%s', as the process sees "
                                 "it, to '%s': %s; what was not copied is still there",
                                 remote->path, to, strerror(-rc));
    return 0;
}

void cunei_remote_directory_close(struct cunei_remote_directory *remote)
{
    if (remote->fd > 0)
        close(remote->fd);
    free(remote->path);
    *remote = (struct cunei_remote_directory){0};
}
