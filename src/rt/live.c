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
#include <unistd.h>

#include "rt/runtime_folder.h"
#include "rt/state.h"
#include "wire/live.h"

#define SWEEP_MAX 100

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

/* What a killed process with the same number left is still found, by a longer name. */
static void set_aside(const struct cunei_recorder_state *recording, const char *pointer)
{
    char *aside = NULL;

    if (access(pointer, F_OK) == 0 &&
        asprintf(&aside, "%s-%llx", pointer,
                 (unsigned long long)recording->start.tick) >= 0) {
        (void)rename(pointer, aside);
        free(aside);
    }
}

/* Let others find the live file by the process's number; a failure loses nothing. */
static void point_to(struct cunei_recorder_state *recording)
{
    char *target = NULL, *pointer = NULL;
    char *directory = cunei_runtime_folder();

    if (!directory)
        return;
    sweep(directory);
    if (asprintf(&pointer, "%s/%d", directory, (int)recording->pid) < 0)
        pointer = NULL;
    else if (asprintf(&target, "%s/%s", recording->folder.path, CUNEI_LIVE_NAME) >= 0) {
        set_aside(recording, pointer);
        (void)unlink(pointer);
        (void)!symlink(target, pointer);
        free(target);
    }
    recording->pointer = pointer;
    free(directory);
}

/* A part of the live file, to be allocated and mapped. */
struct part {
    struct cunei_recorder_state *recording;
    bool is_first; /* the file is made for it */
    uint64_t offset;
    size_t allocated, mapped; /* bytes */
    void *memory;
};

/*
 * A mapping keeps the lock of the descriptor it was made with.  Recovery asks for the
 * same lock: a writer that it cannot see in /proc, in a container, is not taken for
 * dead.
 */
static int map_part(void *context)
{
    struct part *part = context;

    int fd = cunei_hidden_file_open(&part->recording->live_file,
                                    O_RDWR | (part->is_first ? O_CREAT | O_EXCL : 0));
    if (fd < 0)
        return fd;
    int rc = cunei_file_allocate(fd, part->offset, part->allocated);
    if (rc == 0 && part->is_first)
        (void)flock(fd, LOCK_SH | LOCK_NB);
    if (rc == 0)
        rc = cunei_hidden_file_map(fd, part->offset, part->mapped, &part->memory);
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

/* The head in a live file in memory. */
static int map_in_memory(struct part *head)
{
    struct cunei_recorder_state *recording = head->recording;

    int rc = cunei_hidden_file_use_memory(&recording->live_file, recording->pid,
                                          recording->start.tick);
    if (rc == 0)
        rc = run_map_part(head);
    if (rc < 0)
        return rc;
    rc = cunei_hidden_file_write_place(&recording->live_file);
    if (rc < 0)
        munmap(head->memory, head->mapped);
    return rc;
}

static int map_head(struct part *head)
{
    struct cunei_recorder_state *recording = head->recording;

    recording->live_file = (struct cunei_hidden_file){.name = CUNEI_LIVE_NAME,
                                                      .folder = &recording->folder};
    int rc = run_map_part(head);
    if (cunei_hidden_file_cannot_map(rc)) {
        cunei_hidden_file_remove(&recording->live_file);
        rc = map_in_memory(head);
    }
    if (rc < 0)
        cunei_hidden_file_remove(&recording->live_file);
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
    live->base = recording->base;
    memcpy(live->uuid, recording->metadata.uuid, sizeof(live->uuid));
    read_boot_id(live->boot_id);
    atomic_store_explicit(&live->state, CUNEI_LIVE_RECORDING, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    live->magic = CUNEI_LIVE_MAGIC;
    recording->live = live;
    /* A file in memory does not show where the folder is. */
    recording->folder.mapped = recording->live_file.path ? NULL : live;
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
    cunei_hidden_file_forget(&recording->live_file);
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
    cunei_hidden_file_remove(&recording->live_file);
    cunei_live_remove_pointer(recording);
}
