// SPDX-License-Identifier: MIT
#include "attach/script_file.h"

#include <ctype.h>
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
#include "base/buffer.h"
#include "base/safe_open.h"

#define MARKS_MAX 8192

#define OUR_MARK "#0"

/*
 * What surrounds the script.  A forked child has inherited the request, so the pid is
 * compared.  KeyboardInterrupt belongs to the program: a thread of its own gives it
 * back, because it would be raised in here once more if this thread did.
 */
static const char before_path[] = "def run(script):\n"
                                  "    import _thread, posix\n"
                                  "    mark = -1\n"
                                  "    interrupted = False\n"
                                  "    try:\n"
                                  "        if posix.getpid() != %d:\n"
                                  "            return\n"
                                  "        mark = posix.open(";
static const char after_path[] =
    ", posix.O_RDWR | posix.O_APPEND | posix.O_CLOEXEC | posix.O_NOFOLLOW)\n"
    "        name = b'#%%d' %% _thread.get_native_id()\n"
    "        posix.write(mark, name)\n"
    "        if posix.lseek(mark, 0, 1) != %8zu + len(name):\n"
    "            return\n"
    "        exec(compile(script, '<cunei>', 'exec'), {'__name__': '<cunei>'})\n"
    "        posix.write(mark, b'=')\n"
    "    except BaseException as error:\n"
    "        interrupted = isinstance(error, KeyboardInterrupt)\n"
    "        if mark >= 0:\n"
    "            text = ascii('%%s: %%s' %% (type(error).__name__, error))[1:-1]\n"
    "            posix.write(mark, b'!' + text[:600].replace('#', ' ').encode())\n"
    "    finally:\n"
    "        if mark >= 0:\n"
    "            posix.close(mark)\n"
    "    if interrupted:\n"
    "        _thread.start_new_thread(_thread.interrupt_main, ())\n"
    "run(";

/* A literal of Python's bytes. */
static void put_bytes(struct cunei_buffer *out, const char *text)
{
    cunei_buffer_append_text(out, "b'");
    for (const char *at = text; *at; at++) {
        if (*at == '\n')
            cunei_buffer_append_text(out, "\\n");
        else if (*at == '\'' || *at == '\\' || !isprint((unsigned char)*at))
            cunei_buffer_format(out, "\\x%02x", (unsigned char)*at);
        else
            cunei_buffer_append(out, at, 1);
    }
    cunei_buffer_append_text(out, "'");
}

static void format(struct cunei_buffer *out, const struct cunei_target *target,
                   const char *path, const char *script, size_t size)
{
    cunei_buffer_clear(out);
    cunei_buffer_format(out, before_path, (int)target->process.inner_pid);
    put_bytes(out, path);
    cunei_buffer_format(out, after_path, size);
    put_bytes(out, script);
    cunei_buffer_append_text(out, ")\n");
}

static int write_all(int fd, const char *text, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t written = write(fd, text + done, size - done);
        if (written < 0)
            return -errno;
        done += (size_t)written;
    }
    return 0;
}

/* The text has its own size in it, in a fixed width. */
static int write_text(struct cunei_script_file *file, const struct cunei_target *target,
                      const char *script)
{
    struct cunei_buffer text = {0};

    format(&text, target, file->path, script, 0);
    format(&text, target, file->path, script, text.size);
    int rc = text.failed ? -ENOMEM : text.size > CUNEI_SCRIPT_SIZE_MAX ? -E2BIG : 0;
    if (rc == 0)
        rc = write_all(file->fd, text.data, text.size);
    file->size = text.size;
    cunei_buffer_fini(&text);
    return rc;
}

/* Only the process's user and root may rename files in it. */
static bool is_safe_folder(const struct stat *status, const struct cunei_target *target)
{
    bool is_shared = (status->st_mode & 022) != 0;
    bool is_trusted =
        status->st_uid == 0 || status->st_uid == target->process.effective_uid;

    return is_trusted && (!is_shared || (status->st_mode & S_ISVTX));
}

/* The path is quoted in several ways, so it has no character that would need it. */
static int make_name(struct cunei_script_file *file, const char *folder)
{
    uint64_t number;

    for (const char *at = folder; *at; at++) {
        if (!isalnum((unsigned char)*at) && !strchr("/._-", *at))
            return -EINVAL;
    }
    if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
        return -errno;
    int length = snprintf(file->path, sizeof(file->path), "%s/cunei-%016" PRIx64 ".py",
                          folder, number);
    return length > 0 && (size_t)length < sizeof(file->path) ? 0 : -ENAMETOOLONG;
}

static const char *name_of(const struct cunei_script_file *file)
{
    return strrchr(file->path, '/') + 1;
}

static void remove_file(struct cunei_script_file *file)
{
    struct stat status;

    if (fstat(file->fd, &status) == 0) {
        struct cunei_file_id id = cunei_file_id_of(&status);
        (void)cunei_safe_remove(file->folder, name_of(file), &id);
    }
}

static int make_file(struct cunei_script_file *file, const struct cunei_target *target,
                     const char *script)
{
    const struct cunei_process_facts *process = &target->process;
    struct stat status;

    file->fd = cunei_safe_open_file(file->folder, name_of(file),
                                    O_RDWR | O_CREAT | O_EXCL | O_APPEND, &status);
    if (file->fd < 0)
        return file->fd;
    bool is_theirs = status.st_uid == process->file_uid;
    int rc = !is_theirs && fchown(file->fd, process->file_uid, process->file_gid) < 0
                 ? -errno
                 : 0;
    if (rc == 0)
        rc = write_text(file, target, script);
    if (rc < 0) {
        remove_file(file);
        close(file->fd);
    }
    return rc;
}

static int create_in(struct cunei_script_file *file, int root, const char *folder,
                     const struct cunei_target *target, const char *script)
{
    struct stat status;

    int rc = make_name(file, folder);
    if (rc < 0)
        return rc;
    file->folder = cunei_target_root_open_folder(root, folder, &status);
    if (file->folder < 0)
        return file->folder;
    rc = is_safe_folder(&status, target) ? make_file(file, target, script) : -EPERM;
    if (rc < 0)
        close(file->folder);
    return rc;
}

int cunei_script_file_create(struct cunei_script_file *file,
                             const struct cunei_target *target, const char *script,
                             struct cunei_attach_error *error)
{
    const char *folders[] = {target->runtime_directory, "/tmp", "/var/tmp", "/dev/shm"};
    int tmp_rc = 0;

    int root = cunei_target_root_open(target->process.pid);
    int rc = root;
    for (size_t i = 0; root >= 0 && i < sizeof(folders) / sizeof(folders[0]); i++) {
        struct cunei_script_file made = {.is_open = true};
        rc = folders[i][0] ? create_in(&made, root, folders[i], target, script)
                           : -ENOENT;
        if (rc == 0)
            *file = made;
        if (rc == 0 || rc == -E2BIG || rc == -ENOMEM)
            break;
        tmp_rc = i == 1 ? rc : tmp_rc;
    }
    if (root >= 0)
        close(root);
    if (rc < 0)
        return cunei_attach_fail(
            error, rc,
            "process %d cannot be attached: no file for it can be made in its /tmp: "
            "%s; make it a folder that user %u can write to",
            (int)target->process.pid, strerror(tmp_rc ? -tmp_rc : -rc),
            (unsigned)target->process.file_uid);
    return 0;
}

/* What it raised, up to the next mark. */
static void set_exception(struct cunei_script_marks *marks, const char *text)
{
    marks->state = CUNEI_SCRIPT_FAILED;
    (void)cunei_attach_fail(&marks->exception, 0, "%.*s", (int)strcspn(text, "#"),
                            text);
}

static void add_reader(struct cunei_script_marks *marks, const char *number)
{
    if (marks->reader_count < CUNEI_SCRIPT_READERS)
        marks->readers[marks->reader_count++] = strtoull(number, NULL, 10);
}

void cunei_script_file_read_marks(const struct cunei_script_file *file,
                                  struct cunei_script_marks *marks)
{
    char text[MARKS_MAX + 1];

    *marks = (struct cunei_script_marks){.state = CUNEI_SCRIPT_WAITING};
    ssize_t size = pread(file->fd, text, MARKS_MAX, (off_t)file->size);
    text[size > 0 ? size : 0] = '\0';
    for (const char *at = strchr(text, '#'); at; at = strchr(at + 1, '#'))
        add_reader(marks, at + 1);
    if (marks->reader_count > 0)
        marks->state = CUNEI_SCRIPT_BEGUN;
    const char *end = strpbrk(text, "=!");
    if (end && *end == '=')
        marks->state = CUNEI_SCRIPT_ENDED;
    if (end && *end == '!')
        set_exception(marks, end + 1);
}

bool cunei_script_marks_have(const struct cunei_script_marks *marks, uint64_t thread)
{
    for (size_t i = 0; i < marks->reader_count; i++) {
        if (marks->readers[i] == thread)
            return true;
    }
    return false;
}

bool cunei_script_file_withdraw(const struct cunei_script_file *file)
{
    const ssize_t size = sizeof(OUR_MARK) - 1;

    return write(file->fd, OUR_MARK, (size_t)size) == size &&
           lseek(file->fd, 0, SEEK_CUR) == (off_t)file->size + size;
}

void cunei_script_file_close(struct cunei_script_file *file, bool is_needed)
{
    if (!file->is_open)
        return;
    if (!is_needed)
        remove_file(file);
    close(file->fd);
    close(file->folder);
    *file = (struct cunei_script_file){0};
}
