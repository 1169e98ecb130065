// SPDX-License-Identifier: MIT
#include "cmd/record/interpreter_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/safe_open.h"
#include "trace/process/file.h"

/* Answers share these many files, so that the cache does not grow. */
enum {
    PLACES = 64
};

/* A file may change again within this time and keep its timestamps, as on NFS. */
enum {
    SETTLED_S = 2
};

enum {
    ANSWER_MAX_BYTES = 1 << 20,
    STAMP_SIZE = 128
};

/* The last line of an answer that names its files; a cut answer lacks it. */
static const char last_line[] = "\nfiles all\n";

struct key {
    unsigned place;
    char line[64]; /* the first of the file */
};

__extension__ typedef unsigned __int128 cunei_hash;

/* FNV-1a with 128 bits; the NUL ends a text. */
static cunei_hash hash_text(cunei_hash hash, const char *text)
{
    const cunei_hash prime = ((cunei_hash)1 << 88) + 0x13b;

    do
        hash = (hash ^ (unsigned char)*text) * prime;
    while (*text++);
    return hash;
}

/* Identifies a version of a file; "none": it does not exist. */
static void format_stamp(const struct stat *status, char stamp[STAMP_SIZE])
{
    (void)snprintf(
        stamp, STAMP_SIZE, "%jx-%jx-%jx-%jx.%lx-%jx.%lx", (uintmax_t)status->st_dev,
        (uintmax_t)status->st_ino, (uintmax_t)status->st_size,
        (uintmax_t)status->st_mtim.tv_sec, (unsigned long)status->st_mtim.tv_nsec,
        (uintmax_t)status->st_ctim.tv_sec, (unsigned long)status->st_ctim.tv_nsec);
}

static void read_stamp(const char *path, char stamp[STAMP_SIZE])
{
    struct stat status;

    if (stat(path, &status) == 0)
        format_stamp(&status, stamp);
    else
        (void)snprintf(stamp, STAMP_SIZE, "none");
}

/* Shells and terminals change these; PWD is another name of the working directory. */
static bool is_volatile(const char *variable)
{
    static const char *const names[] = {
        "_=", "PWD=", "OLDPWD=", "SHLVL=", "COLUMNS=", "LINES="};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strncmp(variable, names[i], strlen(names[i])) == 0)
            return true;
    }
    return false;
}

/* A hash keeps the values of the environment out of the file. */
static bool make_key(const struct cunei_interpreter_question *question, struct key *key)
{
    cunei_hash hash =
        (cunei_hash)UINT64_C(0x6c62272e07bb0142) << 64 | UINT64_C(0x62b821756295c58d);
    char ours[STAMP_SIZE];

    char *directory = getcwd(NULL, 0);
    if (!directory)
        return false;
    read_stamp("/proc/self/exe", ours);
    const char *const texts[] = {CUNEI_VERSION,     ours,
                                 question->path,    question->flags,
                                 question->program, directory};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        hash = hash_text(hash, texts[i]);
    for (char *const *variable = question->environment; *variable; variable++) {
        if (!is_volatile(*variable))
            hash = hash_text(hash, *variable);
    }
    free(directory);
    key->place = (unsigned)(hash % PLACES);
    (void)snprintf(key->line, sizeof(key->line), "answer %016jx%016jx\n",
                   (uintmax_t)(hash >> 64), (uintmax_t)(hash & UINT64_MAX));
    return true;
}

static int open_own_folder(int at, const char *name)
{
    struct stat status = {0};

    int fd = cunei_safe_open_folder(at, name, &status);
    if (fd >= 0 && (status.st_uid != geteuid() || (status.st_mode & 022))) {
        close(fd);
        return -EPERM;
    }
    return fd;
}

/* Make the folder with `make`; a descriptor, or a negative errno. */
static int open_cache(bool make)
{
    const char *base = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    char *path = NULL;

    if (base && *base == '/')
        path = strdup(base);
    else if (!home || *home != '/' || asprintf(&path, "%s/.cache", home) < 0)
        return -ENOENT;
    if (!path)
        return -ENOMEM;
    if (make)
        (void)mkdir(path, 0700);
    int parent = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int fd = parent < 0 ? -errno : 0;
    if (parent >= 0) {
        if (make)
            (void)mkdirat(parent, "cunei", 0700);
        fd = open_own_folder(parent, "cunei");
        close(parent);
    }
    free(path);
    return fd;
}

/* The text of a file that only this user can have written; NULL: there is none. */
static char *read_own_file(int folder, const char *name)
{
    struct stat status = {0};
    char *text = NULL;

    int fd = cunei_safe_open_file(folder, name, O_RDONLY, &status);
    if (fd < 0)
        return NULL;
    bool is_good = cunei_safe_is_own_file(&status) && (status.st_mode & 077) == 0 &&
                   status.st_size > 0 && status.st_size <= ANSWER_MAX_BYTES;
    size_t size = is_good ? (size_t)status.st_size : 0;
    if (is_good)
        text = malloc(size + 1);
    if (text && (read(fd, text, size) != (ssize_t)size || memchr(text, '\0', size))) {
        free(text);
        text = NULL;
    }
    if (text)
        text[size] = '\0';
    close(fd);
    return text;
}

static bool has_last_line(const char *text)
{
    size_t size = strlen(text);

    return size >= strlen(last_line) &&
           strcmp(text + size - strlen(last_line), last_line) == 0;
}

/* `file STAMP PATH`: whether that file is as it was.  The line ends with a NUL. */
static bool is_unchanged(const char *line)
{
    char stamp[STAMP_SIZE];

    const char *path = strchr(line, ' ');
    if (!path)
        return false;
    read_stamp(path + 1, stamp);
    return strlen(stamp) == (size_t)(path - line) &&
           strncmp(stamp, line, strlen(stamp)) == 0;
}

/* Whether all files are as they were.  There is at least one. */
static bool are_unchanged(char *text)
{
    bool has_any = false;

    for (char *line = text; line && *line;) {
        char *end = strchr(line, '\n');
        if (strncmp(line, "file ", 5) == 0) {
            if (!end)
                return false;
            *end = '\0';
            has_any = is_unchanged(line + 5);
            *end = '\n';
            if (!has_any)
                return false;
        }
        line = end ? end + 1 : NULL;
    }
    return has_any;
}

static void format_name(const struct key *key, char name[16])
{
    (void)snprintf(name, 16, "answer-%u", key->place);
}

char *cunei_interpreter_cache_read(const struct cunei_interpreter_question *question)
{
    struct key key;
    char name[16];

    if (!make_key(question, &key))
        return NULL;
    int folder = open_cache(false);
    if (folder < 0)
        return NULL;
    format_name(&key, name);
    char *text = read_own_file(folder, name);
    close(folder);
    if (text && (strncmp(text, key.line, strlen(key.line)) != 0 ||
                 !has_last_line(text) || !are_unchanged(text))) {
        free(text);
        return NULL;
    }
    return text;
}

static bool is_settled(const struct timespec *changed, const struct timespec *asked)
{
    return changed->tv_sec < asked->tv_sec - SETTLED_S;
}

/* Append the line of a file; false: it may have changed after Python read it. */
static bool put_file(struct cunei_buffer *text, const char *path,
                     const struct timespec *asked)
{
    struct stat status;
    char stamp[STAMP_SIZE] = "none";

    if (stat(path, &status) == 0) {
        if (!is_settled(&status.st_mtim, asked) || !is_settled(&status.st_ctim, asked))
            return false;
        format_stamp(&status, stamp);
    }
    cunei_buffer_format(text, "file %s %s\n", stamp, path);
    return true;
}

/* A script that chooses a Python is not that Python. */
static bool is_same_file(const char *one, const char *other)
{
    struct stat first, second;

    return stat(one, &first) == 0 && stat(other, &second) == 0 &&
           first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

/* The text of the cache; false: this answer is not for it. */
static bool put_answer(const struct cunei_interpreter_question *question,
                       const char *answer, const struct timespec *asked,
                       struct cunei_buffer *text)
{
    char *copy = has_last_line(answer) ? strdup(answer) : NULL;
    bool is_good = copy && put_file(text, question->path, asked);
    bool is_python = false;

    for (char *line = copy; is_good && *line;) {
        char *end = strchr(line, '\n');
        *end = '\0';
        if (strncmp(line, "file ", 5) == 0)
            is_good = put_file(text, line + 5, asked);
        else
            cunei_buffer_format(text, "%s\n", line);
        if (strncmp(line, "running ", 8) == 0)
            is_python = is_same_file(question->path, line + 8);
        line = end + 1;
    }
    free(copy);
    return is_good && is_python && !text->failed;
}

static void replace_file(int folder, const char *name, const struct cunei_buffer *text)
{
    char temporary[32];
    struct stat status;

    (void)snprintf(temporary, sizeof(temporary), ".answer-%d", (int)getpid());
    (void)unlinkat(folder, temporary, 0);
    int fd =
        cunei_safe_open_file(folder, temporary, O_WRONLY | O_CREAT | O_EXCL, &status);
    if (fd < 0)
        return;
    bool is_whole = cunei_trace_file_write(fd, text->data, text->size, 0) == 0;
    if (close(fd) < 0 || !is_whole || renameat(folder, temporary, folder, name) < 0)
        (void)unlinkat(folder, temporary, 0);
}

void cunei_interpreter_cache_write(const struct cunei_interpreter_question *question,
                                   const char *answer, const struct timespec *asked)
{
    struct cunei_buffer text = {0};
    struct key key;
    char name[16];

    if (!make_key(question, &key))
        return;
    cunei_buffer_append_text(&text, key.line);
    if (put_answer(question, answer, asked, &text)) {
        int folder = open_cache(true);
        if (folder >= 0) {
            format_name(&key, name);
            replace_file(folder, name, &text);
            close(folder);
        }
    }
    cunei_buffer_fini(&text);
}
