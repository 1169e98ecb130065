// SPDX-License-Identifier: MIT
#include "attach/process_facts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STATUS_MAX    (64u << 10)
#define START_FIELD   22 /* of /proc/PID/stat, see proc(5) */
#define READ_SIZE     (16u << 10)
#define NAMESPACE_MAX 64

static int read_all(int fd, size_t max, struct cunei_buffer *out)
{
    for (size_t total = 0; total <= max;) {
        char *room = cunei_buffer_room(out, READ_SIZE);
        if (!room)
            return -ENOMEM;
        ssize_t size = read(fd, room, READ_SIZE);
        if (size <= 0)
            return size < 0 ? -errno : 0;
        cunei_buffer_grow(out, room + size);
        total += (size_t)size;
    }
    return -EFBIG;
}

int cunei_process_file_read(pid_t pid, const char *name, size_t max,
                            struct cunei_buffer *out)
{
    char path[64];

    (void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? -ESRCH : -errno;
    int rc = read_all(fd, max, out);
    close(fd);
    return rc;
}

/* What follows "Name:" at the beginning of a line; NULL: there is no such line. */
static const char *field_of(const char *status, const char *name)
{
    size_t length = strlen(name);

    for (const char *line = status; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, length) == 0 && line[length] == ':')
            return line + length + 1;
    }
    return NULL;
}

static long number_of(const char *status, const char *name)
{
    const char *field = field_of(status, name);
    return field ? strtol(field, NULL, 10) : 0;
}

/* The four ids of a user or group: real, effective, saved, of files. */
static bool read_ids(const char *status, const char *name, unsigned ids[4])
{
    const char *at = field_of(status, name);

    for (size_t i = 0; at && i < 4; i++) {
        char *end = NULL;
        ids[i] = (unsigned)strtoul(at, &end, 10);
        at = end == at ? NULL : end;
    }
    return at != NULL;
}

static void read_name(const char *status, char name[CUNEI_PROCESS_NAME_SIZE])
{
    const char *field = field_of(status, "Name");

    field += field && *field == '\t';
    size_t length = field ? strcspn(field, "\n") : 0;
    if (length >= CUNEI_PROCESS_NAME_SIZE)
        length = CUNEI_PROCESS_NAME_SIZE - 1;
    if (length > 0)
        memcpy(name, field, length);
    name[length] = '\0';
}

/* The last number in the line NSpid; a second one: it is in a nested namespace. */
static void read_inner_pid(const char *status, struct cunei_process_facts *facts)
{
    const char *at = field_of(status, "NSpid");
    unsigned count = 0;
    char *end;

    facts->inner_pid = facts->pid;
    for (; at && *at && *at != '\n'; at = end) {
        long pid = strtol(at, &end, 10);
        if (end == at || pid <= 0 || pid > INT_MAX)
            break;
        facts->inner_pid = (pid_t)pid;
        count++;
        if (*end == '\n')
            break;
    }
    facts->is_in_other_pid_namespace = count > 1;
}

/* Of 0 memory maps, a kernel thread has no line VmSize; neither has a zombie. */
static int parse_status(const char *status, struct cunei_process_facts *facts)
{
    const char *state = field_of(status, "State");
    unsigned uids[4], gids[4];

    if (!state || !read_ids(status, "Uid", uids) || !read_ids(status, "Gid", gids))
        return -ENODATA;
    facts->is_zombie = strncmp(state, "\tZ", 2) == 0 || strncmp(state, "\tX", 2) == 0;
    facts->is_kernel_thread = !facts->is_zombie && !field_of(status, "VmSize");
    facts->uid = uids[0];
    facts->effective_uid = uids[1];
    facts->saved_uid = uids[2];
    facts->file_uid = uids[3];
    facts->gid = gids[0];
    facts->effective_gid = gids[1];
    facts->saved_gid = gids[2];
    facts->file_gid = gids[3];
    facts->process = (pid_t)number_of(status, "Tgid");
    facts->tracer = (pid_t)number_of(status, "TracerPid");
    facts->thread_count = (size_t)number_of(status, "Threads");
    read_name(status, facts->name);
    read_inner_pid(status, facts);
    return 0;
}

/* The name of the command, in brackets before the fields, may hold anything. */
static uint64_t start_of(const char *stat)
{
    const char *at = strrchr(stat, ')');

    for (int field = 2; at && field < START_FIELD; field++) {
        at = strchr(at, ' ');
        at += at != NULL;
    }
    return at ? strtoull(at, NULL, 10) : 0;
}

static int read_start(pid_t pid, uint64_t *start)
{
    struct cunei_buffer text = {0};

    int rc = cunei_process_file_read(pid, "stat", STATUS_MAX, &text);
    if (rc == 0) {
        *start = start_of(cunei_buffer_text(&text));
        rc = *start == 0 ? -ENODATA : 0;
    }
    cunei_buffer_fini(&text);
    return rc;
}

/* Whether we may look, and see that its namespace is not ours. */
static bool is_in_other_namespace(pid_t pid, const char *kind)
{
    char path[64], ours[NAMESPACE_MAX], theirs[NAMESPACE_MAX];

    (void)snprintf(path, sizeof(path), "/proc/self/ns/%s", kind);
    ssize_t our_size = readlink(path, ours, sizeof(ours));
    (void)snprintf(path, sizeof(path), "/proc/%d/ns/%s", (int)pid, kind);
    ssize_t their_size = readlink(path, theirs, sizeof(theirs));
    return our_size > 0 && their_size > 0 &&
           (our_size != their_size || memcmp(ours, theirs, (size_t)our_size) != 0);
}

static uint64_t number_of_pid_namespace(pid_t pid)
{
    char path[64];
    struct stat status;

    (void)snprintf(path, sizeof(path), "/proc/%d/ns/pid", (int)pid);
    return stat(path, &status) == 0 ? status.st_ino : 0;
}

int cunei_process_facts_read(pid_t pid, struct cunei_process_facts *facts)
{
    struct cunei_process_facts found = {.pid = pid};
    struct cunei_buffer status = {0};

    int rc =
        pid <= 0 ? -ESRCH : cunei_process_file_read(pid, "status", STATUS_MAX, &status);
    if (rc == 0)
        rc = parse_status(cunei_buffer_text(&status), &found);
    cunei_buffer_fini(&status);
    if (rc == 0)
        rc = read_start(pid, &found.start);
    if (rc < 0)
        return rc;
    found.pid_namespace = number_of_pid_namespace(pid);
    found.is_in_other_pid_namespace |= is_in_other_namespace(pid, "pid");
    found.is_in_other_mount_namespace = is_in_other_namespace(pid, "mnt");
    found.is_in_other_network_namespace = is_in_other_namespace(pid, "net");
    found.is_in_other_user_namespace = is_in_other_namespace(pid, "user");
    *facts = found;
    return 0;
}

bool cunei_process_facts_is_alive(const struct cunei_process_facts *facts)
{
    struct cunei_process_facts now;

    return cunei_process_facts_read(facts->pid, &now) == 0 &&
           now.start == facts->start && !now.is_zombie;
}

const char *cunei_process_variable(const struct cunei_buffer *environment,
                                   const char *name)
{
    const char *text = cunei_buffer_text(environment);
    size_t length = strlen(name);

    for (size_t at = 0; at < environment->size; at += strlen(text + at) + 1) {
        if (strncmp(text + at, name, length) == 0 && text[at + length] == '=')
            return text + at + length + 1;
    }
    return NULL;
}
