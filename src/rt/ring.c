// SPDX-License-Identifier: MIT
#include "rt/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include "python/refusal_reason.h"
#include "rt/ring_claim.h"
#include "rt/state.h"
#include "wire/keep.h"
#include "wire/ring.h"

/* The ring while it is made. */
struct making {
    struct cunei_recorder_state *recording;
    uint64_t block_count;
    void *memory;
};

static int map_ring(void *context)
{
    struct making *making = context;
    uint64_t table = cunei_ring_data_offset(making->block_count);
    uint64_t size = table + making->block_count * CUNEI_RING_BLOCK_SIZE;

    int fd = cunei_hidden_file_open(&making->recording->ring_file,
                                    O_RDWR | O_CREAT | O_EXCL);
    if (fd < 0)
        return fd;
    int rc = cunei_file_allocate(fd, 0, size);
    /* As for the live file: recovery asks for the same lock. */
    if (rc == 0)
        (void)flock(fd, LOCK_SH | LOCK_NB);
    if (rc == 0)
        rc = cunei_hidden_file_map(fd, 0, (size_t)table, &making->memory);
    close(fd);
    return rc;
}

/* Where the ring takes its room from: its folder, or memory. */
static int check_room(struct cunei_recorder_state *recording, uint64_t size)
{
    return recording->ring_file.path ? cunei_space_check_memory(size)
                                     : cunei_space_check(&recording->folder, size);
}

static int make(struct making *making)
{
    struct cunei_recorder_state *recording = making->recording;

    int rc = check_room(recording, making->block_count * CUNEI_RING_BLOCK_SIZE);
    if (rc == 0)
        rc = cunei_folder_run(&recording->folder, map_ring, making);
    if (rc == 0)
        rc = cunei_hidden_file_write_place(&recording->ring_file);
    return rc;
}

static int make_in_memory(struct making *making)
{
    struct cunei_recorder_state *recording = making->recording;

    int rc = cunei_hidden_file_use_memory(&recording->ring_file, recording->pid,
                                          recording->start.tick);
    return rc < 0 ? rc : make(making);
}

static bool is_no_room(int rc)
{
    return rc == -ENOSPC || rc == -ENOMEM || rc == -EDQUOT || rc == -EFBIG;
}

int cunei_ring_create(struct cunei_recorder_state *recording,
                      const struct cunei_keep *keep)
{
    struct making making = {.recording = recording,
                            .block_count = cunei_ring_blocks(keep->size)};

    recording->ring_file = (struct cunei_hidden_file){.name = CUNEI_RING_NAME,
                                                      .folder = &recording->folder};
    int rc = keep->in_memory ? make_in_memory(&making) : make(&making);
    if (cunei_hidden_file_cannot_map(rc) && !keep->in_memory) {
        cunei_hidden_file_remove(&recording->ring_file);
        rc = make_in_memory(&making);
    }
    struct cunei_ring *head = making.memory;
    if (rc < 0 || !head) {
        cunei_hidden_file_remove(&recording->ring_file);
        cunei_hidden_file_forget(&recording->ring_file);
        return is_no_room(rc) || rc == 0 ? -CUNEI_REFUSAL_RING : rc;
    }
    head->version = CUNEI_WIRE_VERSION;
    head->block_size = CUNEI_RING_BLOCK_SIZE;
    memcpy(head->uuid, recording->metadata.uuid, sizeof(head->uuid));
    head->block_count = making.block_count;
    head->data_offset = cunei_ring_data_offset(making.block_count);
    head->keep_ns = keep->ns;
    atomic_thread_fence(memory_order_release);
    head->magic = CUNEI_RING_MAGIC;
    recording->ring = (struct cunei_ring_map){
        .head = head,
        .blocks = (void *)((char *)head + CUNEI_RING_BLOCK_SIZE),
        .block_count = making.block_count,
    };
    return 0;
}

bool cunei_ring_holds(const struct cunei_recorder_state *recording,
                      const struct cunei_stream *stream)
{
    return recording->ring.head && stream != &recording->definitions;
}

/* A packet on its way into blocks of the ring. */
struct writing {
    struct cunei_recorder_state *recording;
    const char *bytes;
    uint64_t size, position;
};

static int write_at(int fd, const char *bytes, uint64_t size, uint64_t offset)
{
    /* The program may have lowered the limit since the ring was allocated. */
    int rc = cunei_file_check_limit(offset + size);

    while (rc == 0 && size > 0) {
        ssize_t written = pwrite(fd, bytes, size, (off_t)offset);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return written < 0 ? -errno : -EIO;
        bytes += written;
        size -= (uint64_t)written;
        offset += (uint64_t)written;
    }
    return rc;
}

/* From the last block the packet continues in the first. */
static int write_blocks(void *context)
{
    const struct writing *writing = context;
    uint64_t block_count = writing->recording->ring.block_count;
    uint64_t data = cunei_ring_data_offset(block_count);
    uint64_t block = writing->position % block_count;
    uint64_t room = (block_count - block) * CUNEI_RING_BLOCK_SIZE;
    uint64_t first = writing->size < room ? writing->size : room;

    int fd = cunei_hidden_file_open(&writing->recording->ring_file, O_WRONLY);
    if (fd < 0)
        return fd;
    int rc = write_at(fd, writing->bytes, first, data + block * CUNEI_RING_BLOCK_SIZE);
    if (rc == 0)
        rc = write_at(fd, writing->bytes + first, writing->size - first, data);
    close(fd);
    return rc;
}

int cunei_ring_write(struct cunei_recorder_state *recording,
                     const struct cunei_packet *packet)
{
    uint64_t blocks = cunei_ring_blocks(packet->packet_bits / 8);
    struct writing writing = {
        .recording = recording,
        .bytes = (const void *)packet,
        /* Whole blocks, of which the kernel reads nothing before it writes them: the
         * buffer of the packet has room for them. */
        .size = blocks * CUNEI_RING_BLOCK_SIZE,
    };

    int rc = cunei_ring_take(&recording->ring, blocks, &writing.position);
    if (rc < 0)
        return rc;
    rc = cunei_folder_run(&recording->folder, write_blocks, &writing);
    if (rc == 0)
        cunei_ring_publish(&recording->ring, writing.position, blocks,
                           packet->timestamp_end);
    else
        cunei_ring_abandon(&recording->ring, writing.position, blocks);
    return rc;
}

/* The bytes of the file up to the last block that was ever used. */
static uint64_t used_size(const struct cunei_ring_map *ring)
{
    uint64_t next = ring->head->next;
    uint64_t used = next < ring->block_count ? next : ring->block_count;

    return cunei_ring_data_offset(ring->block_count) + used * CUNEI_RING_BLOCK_SIZE;
}

static int trim(void *context)
{
    struct cunei_recorder_state *recording = context;

    int fd = cunei_hidden_file_open(&recording->ring_file, O_WRONLY);
    if (fd < 0)
        return fd;
    int rc = ftruncate(fd, (off_t)used_size(&recording->ring)) < 0 ? -errno : 0;
    close(fd);
    return rc;
}

void cunei_ring_trim(struct cunei_recorder_state *recording)
{
    if (recording->ring.head)
        (void)cunei_folder_run(&recording->folder, trim, recording);
}

void cunei_ring_forget(struct cunei_recorder_state *recording)
{
    if (recording->ring.head)
        munmap(recording->ring.head,
               (size_t)cunei_ring_data_offset(recording->ring.block_count));
    recording->ring = (struct cunei_ring_map){0};
    cunei_hidden_file_forget(&recording->ring_file);
}

void cunei_ring_remove(struct cunei_recorder_state *recording)
{
    if (recording->ring.head)
        cunei_hidden_file_remove(&recording->ring_file);
}
