// SPDX-License-Identifier: MIT
/*
 * The live file: made, grown by a slot per stream, and removed.
 *
 * It is allocated before it is mapped, so that no store into it can fail on a full
 * disk.  Where the trace directory's file system cannot map files, it lies in /dev/shm
 * and a file in the folder names it (wire/live_place.h).
 */
#include "rt/live.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/safe_open.h"
#include "rt/run_in_child.h"
#include "rt/state.h"
#include "wire/live.h"
#include "wire/live_place.h"

#define PRIVATE_MODE 0700
#define SWEEP_MAX    100

/* Whether it is a directory of this user, with none of these rights for others. */
static bool is_own(const char *path, mode_t rights)
{
    struct stat status;

    return lstat(path, &status) == 0 && S_ISDIR(status.st_mode) &&
           status.st_uid == geteuid() && (status.st_mode & rights) == 0;
}

/* A directory for this user alone, made if need be. */
static bool is_private(const char *path)
{
    if (mkdir(path, PRIVATE_MODE) < 0 && errno != EEXIST)
        return false;
    return is_own(path, 077);
}

/* This user's directory in memory; NULL: there is none. */
static char *memory_directory(void)
{
    char *path = NULL;

    if (asprintf(&path, CUNEI_LIVE_MEMORY_FOLDER, (unsigned)geteuid()) < 0)
        return NULL;
    if (is_private(path))
        return path;
    free(path);
    return NULL;
}

/*
 * Where this user's live files are pointed to; NULL where there is no such place. After
 * su, XDG_RUNTIME_DIR is another user's, who could put a link in the place of ours.
 */
static char *runtime_directory(void)
{
    const char *base = getenv("XDG_RUNTIME_DIR");
    char *path = NULL;

    if (base && base[0] == '/' && is_own(base, 022) &&
        asprintf(&path, "%s/cunei", base) >= 0) {
        if (is_private(path))
            return path;
        free(path);
    }
    return memory_directory();
}

/*
 * Remove links that killed processes left, if their traces no longer exist.  A process
 * looks at SWEEP_MAX links at most, and its forked children do not look again: where
 * there are thousands of links, thousands of processes come to look.
 */
static void sweep(const char *directory)
{
    static bool done;
    unsigned left = SWEEP_MAX;

    DIR *links = done ? NULL : opendir(directory);
    done = true;
    if (!links)
        return;
    for (struct dirent *entry; left-- > 0 && (entry = readdir(links));) {
        bool is_link =
            entry->d_type == DT_LNK && isdigit((unsigned char)entry->d_name[0]);
        if (is_link && faccessat(dirfd(links), entry->d_name, F_OK, 0) < 0 &&
            errno == ENOENT)
            (void)unlinkat(dirfd(links), entry->d_name, 0);
    }
    closedir(links);
}

/* Let others find the live file by the process's number; a failure loses nothing. */
static void point_to(struct cunei_recorder_state *recording)
{
    char *target = NULL, *pointer = NULL;
    char *directory = runtime_directory();

    if (!directory)
        return;
    sweep(directory);
    if (asprintf(&pointer, "%s/%d", directory, (int)recording->pid) < 0)
        pointer = NULL;
    else if (asprintf(&target, "%s/%s", recording->folder.path, CUNEI_LIVE_NAME) >= 0) {
        (void)unlink(pointer);
        (void)!symlink(target, pointer);
        free(target);
    }
    recording->pointer = pointer;
    free(directory);
}

static int map(int fd, uint64_t offset, size_t size, void **memory)
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

/* A part of the live file, to be allocated and mapped. */
struct part {
    struct cunei_recorder_state *recording;
    bool is_first; /* the file is made for it */
    uint64_t offset;
    size_t allocated, mapped; /* bytes */
    void *memory;
};

/* Open the file, or make it; it must be the one that was made. */
static int open_live(const struct part *part)
{
    struct cunei_recorder_state *recording = part->recording;
    int flags = O_RDWR | (part->is_first ? O_CREAT | O_EXCL : 0);
    struct stat status;

    int fd = recording->live_path
                 ? cunei_safe_open_file(AT_FDCWD, recording->live_path, flags, &status)
                 : cunei_file_open(&recording->folder, CUNEI_LIVE_NAME, flags, &status);
    if (fd < 0)
        return fd;
    if (part->is_first)
        recording->live_id = cunei_file_id_of(&status);
    else if (!cunei_file_id_is(&recording->live_id, &status)) {
        close(fd);
        return -ESTALE;
    }
    return fd;
}

/*
 * A mapping keeps the lock of the descriptor it was made with.  Recovery asks for the
 * same lock: a writer that it cannot see in /proc, in a container, is not taken for
 * dead.
 */
static int map_part(void *context)
{
    struct part *part = context;

    int fd = open_live(part);
    if (fd < 0)
        return fd;
    int rc = cunei_file_allocate(fd, part->offset, part->allocated);
    if (rc == 0 && part->is_first)
        (void)flock(fd, LOCK_SH | LOCK_NB);
    if (rc == 0)
        rc = map(fd, part->offset, part->mapped, &part->memory);
    close(fd);
    return rc;
}

static int run_map_part(struct part *part)
{
    return cunei_folder_run(&part->recording->folder, map_part, part);
}

/* The same for as long as there is this process, and its forked children. */
static void read_boot_id(uint8_t copy[16])
{
    static uint8_t id[16];
    static bool is_known;
    char text[37] = "";
    size_t digits = 0;

    memcpy(copy, id, sizeof(id));
    if (is_known)
        return;
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    if (read(fd, text, sizeof(text) - 1) < 0)
        text[0] = '\0';
    close(fd);
    for (const char *c = text; *c && digits < 32; c++) {
        char digit[2] = {*c, '\0'};
        char *end = NULL;
        unsigned long value = strtoul(digit, &end, 16);
        if (end == digit)
            continue;
        id[digits / 2] = (uint8_t)(id[digits / 2] << 4 | value);
        digits++;
    }
    is_known = true;
    memcpy(copy, id, sizeof(id));
}

static int remove_from_memory(void *context)
{
    const struct cunei_recorder_state *recording = context;

    return cunei_safe_remove_path(recording->live_path, &recording->live_id);
}

/*
 * Remove what was made of it, here and in memory.  While it is in memory, the file in
 * the folder stays: nothing else names it.
 */
static void remove_live(struct cunei_recorder_state *recording)
{
    const struct cunei_file_id *here = &recording->live_id;

    if (recording->live_path) {
        int rc = cunei_run_in_child(remove_from_memory, recording);
        if (rc < 0 && rc != -ENOENT)
            return;
        here = &recording->place_end.id;
    }
    (void)cunei_file_remove(&recording->folder, CUNEI_LIVE_NAME, here);
}

/* The file in the folder that names the live file in memory. */
static int write_place(struct cunei_recorder_state *recording)
{
    struct cunei_live_place place = {.id = recording->live_id};
    struct cunei_buffer text = {0};

    (void)snprintf(place.path, sizeof(place.path), "%s", recording->live_path);
    cunei_live_place_format(&place, &text);
    int rc = text.failed
                 ? -ENOMEM
                 : cunei_file_append(&recording->folder, CUNEI_LIVE_NAME, text.data,
                                     text.size, &recording->place_end);
    cunei_buffer_fini(&text);
    return rc;
}

/* The head in a live file in memory. */
static int map_in_memory(struct part *head)
{
    struct cunei_recorder_state *recording = head->recording;

    char *directory = memory_directory();
    if (!directory)
        return -ENOENT;
    int length =
        asprintf(&recording->live_path, "%s/live-%d-%llx", directory,
                 (int)recording->pid, (unsigned long long)recording->start.tick);
    free(directory);
    if (length < 0) {
        recording->live_path = NULL;
        return -ENOMEM;
    }
    int rc = run_map_part(head);
    if (rc < 0)
        return rc;
    rc = write_place(recording);
    if (rc < 0)
        munmap(head->memory, head->mapped);
    return rc;
}

static int map_head(struct part *head)
{
    struct cunei_recorder_state *recording = head->recording;

    recording->live_id = (struct cunei_file_id){0};
    recording->place_end = (struct cunei_file_end){0};
    int rc = run_map_part(head);
    if (rc == -ENODEV || rc == -EOPNOTSUPP || rc == -EINVAL || rc == -EACCES) {
        remove_live(recording);
        rc = map_in_memory(head);
    }
    if (rc < 0)
        remove_live(recording);
    return rc;
}

int cunei_live_create(struct cunei_recorder_state *recording)
{
    struct part head = {.recording = recording,
                        .is_first = true,
                        .allocated = CUNEI_LIVE_HEAD_SIZE + CUNEI_LIVE_STREAM_SIZE,
                        .mapped = CUNEI_LIVE_HEAD_SIZE};

    int rc = map_head(&head);
    if (rc < 0)
        return rc;

    struct cunei_live *live = head.memory;
    live->version = CUNEI_WIRE_VERSION;
    live->packet_size = CUNEI_PACKET_SIZE;
    live->pid = (uint32_t)recording->pid;
    memcpy(live->uuid, recording->metadata.uuid, sizeof(live->uuid));
    read_boot_id(live->boot_id);
    atomic_store_explicit(&live->state, CUNEI_LIVE_RECORDING, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    live->magic = CUNEI_LIVE_MAGIC;
    recording->live = live;
    /* A file in memory does not show where the folder is. */
    recording->folder.mapped = recording->live_path ? NULL : live;
    point_to(recording);
    return 0;
}

struct cunei_slot *cunei_live_add_slot(struct cunei_recorder_state *recording,
                                       enum cunei_stream_class stream_class)
{
    struct cunei_live *live = recording->live;
    uint32_t number = atomic_load_explicit(&live->stream_count, memory_order_relaxed);
    struct part part = {.recording = recording,
                        .offset = CUNEI_LIVE_HEAD_SIZE +
                                  (uint64_t)number * CUNEI_LIVE_STREAM_SIZE,
                        .allocated = CUNEI_LIVE_STREAM_SIZE,
                        .mapped = CUNEI_LIVE_STREAM_SIZE};

    if (number >= CUNEI_LIVE_STREAMS_MAX)
        return NULL;
    struct cunei_slot *slot = calloc(1, sizeof(*slot));
    if (!slot)
        return NULL;
    if (run_map_part(&part) < 0) {
        free(slot);
        return NULL;
    }

    slot->number = number;
    slot->buffers = part.memory;
    slot->last = recording->base; /* an event may have read its clock before that */
    live->streams[number].stream_class = stream_class;
    /* Pairs with the acquire in the reader: the slot is there before it is counted. */
    atomic_store_explicit(&live->stream_count, number + 1, memory_order_release);
    recording->slots[number] = slot;
    return slot;
}

void cunei_live_forget(struct cunei_recorder_state *recording)
{
    for (size_t i = 0; i < CUNEI_LIVE_STREAMS_MAX && recording->slots[i]; i++) {
        munmap(recording->slots[i]->buffers, CUNEI_LIVE_STREAM_SIZE);
        free(recording->slots[i]);
        recording->slots[i] = NULL;
    }
    recording->free_slots = NULL;
    recording->free_count = 0;
    recording->no_slot_until = 0;
    free(recording->pointer);
    recording->pointer = NULL;
    free(recording->live_path);
    recording->live_path = NULL;
    recording->folder.mapped = NULL;
    if (recording->live)
        munmap(recording->live, CUNEI_LIVE_HEAD_SIZE);
    recording->live = NULL;
}

/* Another process with the same number, in a container, may have replaced it. */
void cunei_live_remove_pointer(struct cunei_recorder_state *recording)
{
    char target[PATH_MAX], own[PATH_MAX];

    if (!recording->pointer)
        return;
    ssize_t size = readlink(recording->pointer, target, sizeof(target) - 1);
    target[size > 0 ? size : 0] = '\0';
    (void)snprintf(own, sizeof(own), "%s/%s", recording->folder.path, CUNEI_LIVE_NAME);
    if (strcmp(target, own) == 0)
        (void)unlink(recording->pointer);
}

void cunei_live_remove(struct cunei_recorder_state *recording)
{
    remove_live(recording);
    cunei_live_remove_pointer(recording);
}
