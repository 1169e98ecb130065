// SPDX-License-Identifier: MIT
#include "attach/python_image.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/elf_file.h"
#include "attach/target_root.h"

/* The symbols that are looked up, by their place in the list. */
enum {
    RUNTIME,
    VERSION,
    RUN_STRING,
    REF_DEBUG,
    SYMBOL_COUNT
};

/* A file that may hold CPython, while it is looked into. */
struct candidate {
    const struct cunei_process_facts *process;
    const struct cunei_memory_map *map;
    struct cunei_mapping first; /* of its mappings */
    char path[PATH_MAX];        /* as the process names it */
    bool is_executable;
    int fd; /* owned */
    struct cunei_elf_file file;
    struct cunei_elf elf;
    struct cunei_elf_symbol symbols[SYMBOL_COUNT];
};

static bool begins_with(const char *name, size_t length, const char *prefix)
{
    size_t wanted = strlen(prefix);
    return length >= wanted && memcmp(name, prefix, wanted) == 0;
}

static bool is_library_name(const char *name, size_t length)
{
    return begins_with(name, length, "libpython3.") ||
           begins_with(name, length, "libpython2.");
}

bool cunei_python_image_is_name(const char *name, size_t length)
{
    return begins_with(name, length, "python") || begins_with(name, length, "pypy") ||
           begins_with(name, length, "libpypy") || is_library_name(name, length);
}

/* maps writes a newline as \012, and leaves everything else as it is. */
static bool copy_path(const struct cunei_mapping *mapping, char path[PATH_MAX])
{
    size_t length = 0;

    for (size_t i = 0; i < mapping->path_length; i++) {
        bool is_newline =
            begins_with(mapping->path + i, mapping->path_length - i, "\\012");
        if (length + 1 >= PATH_MAX)
            return false;
        path[length++] = mapping->path[i];
        if (is_newline)
            path[length - 1] = '\n';
        i += is_newline ? 3 : 0;
    }
    path[length] = '\0';
    return length > 0;
}

/* The first mapping of libpython; otherwise that of the executable. */
static bool choose(struct candidate *candidate, const char *executable)
{
    struct cunei_mapping mapping = {0};
    bool is_found = false;

    while (cunei_memory_map_next(candidate->map, &mapping)) {
        char path[PATH_MAX];
        size_t length;
        const char *name = cunei_mapping_name(&mapping, &length);
        bool is_library = is_library_name(name, length);
        if (!is_library && is_found)
            continue;
        if (!copy_path(&mapping, path) ||
            (!is_library && strcmp(path, executable) != 0))
            continue;
        candidate->first = mapping;
        memcpy(candidate->path, path, sizeof(path));
        candidate->is_executable = !is_library;
        is_found = true;
        if (is_library)
            break;
    }
    return is_found;
}

static int read_file(const void *context, uint64_t offset, void *bytes, size_t size)
{
    ssize_t read = pread(*(const int *)context, bytes, size, (off_t)offset);
    if (read < 0)
        return -errno;
    return (size_t)read == size ? 0 : -ENOEXEC;
}

/* The file itself, whatever its name leads to by now; needs a capability. */
static int open_mapped(const struct candidate *candidate, struct stat *status)
{
    char path[96];

    if (candidate->is_executable)
        (void)snprintf(path, sizeof(path), "/proc/%d/exe",
                       (int)candidate->process->pid);
    else
        (void)snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx",
                       (int)candidate->process->pid,
                       (unsigned long long)candidate->first.start,
                       (unsigned long long)candidate->first.end);
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, status) == 0 && S_ISREG(status->st_mode))
        return fd;
    int rc = fd < 0 ? -errno : -EBADMSG;
    if (fd >= 0)
        close(fd);
    return rc;
}

/*
 * By name.  An update may have put another file in its place, with other addresses.
 * Overlay and btrfs show another device in maps than fstat does, so the inode counts.
 */
static int open_named(const struct candidate *candidate, struct stat *status)
{
    int root = cunei_target_root_open(candidate->process->pid);
    if (root < 0)
        return root;
    int fd = cunei_target_root_open_file(root, candidate->path, status);
    close(root);
    if (fd >= 0 && (uint64_t)status->st_ino != candidate->first.inode) {
        close(fd);
        return -ESTALE;
    }
    return fd;
}

static int open_candidate(struct candidate *candidate, struct cunei_attach_error *error)
{
    struct stat status;

    candidate->fd = open_mapped(candidate, &status);
    if (candidate->fd < 0)
        candidate->fd = open_named(candidate, &status);
    if (candidate->fd == -ESTALE || candidate->fd == -ENOENT)
        return cunei_attach_fail(
            error, candidate->fd,
            "process %d cannot be examined: its file '%s' has been replaced since it "
            "started; restart the process, or try as root",
            (int)candidate->process->pid, candidate->path);
    if (candidate->fd < 0)
        return cunei_attach_fail(error, candidate->fd,
                                 "process %d cannot be examined: its file '%s' cannot "
                                 "be read: %s; try as root",
                                 (int)candidate->process->pid, candidate->path,
                                 strerror(-candidate->fd));
    candidate->file = (struct cunei_elf_file){
        .read = read_file, .context = &candidate->fd, .size = (uint64_t)status.st_size};
    return 0;
}

/* Python interpreters are linked with names for extensions; static ones need not be. */
static int find_symbols(struct candidate *candidate)
{
    struct cunei_elf_symbol *symbols = candidate->symbols;
    size_t length = 0;

    symbols[RUNTIME].name = "_PyRuntime";
    symbols[VERSION].name = "Py_Version";
    symbols[RUN_STRING].name = "PyRun_SimpleString";
    symbols[REF_DEBUG].name = "_Py_NegativeRefcount"; /* --with-pydebug has it */
    int rc = cunei_elf_read(&candidate->file, &candidate->elf);
    if (rc == 0)
        rc = cunei_elf_find(&candidate->file, &candidate->elf, CUNEI_ELF_DYNAMIC,
                            symbols, SYMBOL_COUNT);
    const char *name = cunei_mapping_name(&candidate->first, &length);
    if (rc == 0 && symbols[RUNTIME].address == 0 &&
        cunei_python_image_is_name(name, length))
        rc = cunei_elf_find(&candidate->file, &candidate->elf, CUNEI_ELF_ALL, symbols,
                            SYMBOL_COUNT);
    return rc;
}

/* What lies at a symbol in the file, before the program changes it. */
static bool read_symbol(const struct candidate *candidate, int symbol, void *bytes,
                        size_t size)
{
    uint64_t address = candidate->symbols[symbol].address, offset;

    return address != 0 && cunei_elf_offset(&candidate->elf, address, size, &offset) &&
           offset <= candidate->file.size && size <= candidate->file.size - offset &&
           candidate->file.read(candidate->file.context, offset, bytes, size) == 0;
}

/* "3.13" in libpython3.13t.so.1.0 or python3.13. */
static void read_version_of_name(const struct candidate *candidate,
                                 struct cunei_python_image *image)
{
    const char *name = strrchr(candidate->path, '/');
    const char *at = name ? strstr(name, "python3.") : NULL;
    char *end = NULL;

    if (!at || !isdigit((unsigned char)at[sizeof("python3.") - 1]))
        return;
    unsigned long minor = strtoul(at + sizeof("python3.") - 1, &end, 10);
    image->minor = minor < 100 ? (unsigned)minor : 0;
    image->is_free_threaded = *end == 't';
    image->is_debug |= *end == 'd' || (*end == 't' && end[1] == 'd');
}

static void read_version(const struct candidate *candidate,
                         struct cunei_python_image *image)
{
    unsigned long version = 0;

    image->patch = -1;
    read_version_of_name(candidate, image);
    if (!read_symbol(candidate, VERSION, &version, sizeof(version)) ||
        version >> 24 != 3)
        return;
    image->version = (uint32_t)version;
    image->minor = (unsigned)(version >> 16 & 0xff);
    image->patch = (int)(version >> 8 & 0xff);
}

static void read_offsets(const struct candidate *candidate,
                         struct cunei_python_image *image)
{
    uint8_t bytes[CUNEI_DEBUG_OFFSETS_SIZE];

    image->offsets_rc = -ENODATA;
    if (!read_symbol(candidate, RUNTIME, bytes, sizeof(bytes)))
        return;
    image->offsets_rc =
        cunei_debug_offsets_parse(bytes, sizeof(bytes), &image->offsets);
    if (image->offsets_rc == 0)
        image->is_free_threaded = image->offsets.is_free_threaded != 0;
}

static int set_addresses(const struct candidate *candidate,
                         struct cunei_python_image *image)
{
    const struct cunei_elf_symbol *symbols = candidate->symbols;
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), bias;

    if (!cunei_elf_bias(&candidate->elf, candidate->first.start,
                        candidate->first.offset, page, &bias))
        return -ENOEXEC;
    image->runtime = symbols[RUNTIME].address + bias;
    image->runtime_size = symbols[RUNTIME].size;
    if (read_symbol(candidate, RUN_STRING, image->run_string_code,
                    sizeof(image->run_string_code)))
        image->run_string = symbols[RUN_STRING].address + bias;
    return 0;
}

static int describe(const struct candidate *candidate, struct cunei_python_image *image)
{
    image->is_library = !candidate->is_executable;
    image->is_static = candidate->is_executable && !candidate->elf.is_dynamic;
    image->is_debug = candidate->symbols[REF_DEBUG].address != 0;
    read_version(candidate, image);
    read_offsets(candidate, image);
    int rc = set_addresses(candidate, image);
    if (rc < 0)
        return rc;
    image->path = strdup(candidate->path);
    return image->path ? 0 : -ENOMEM;
}

static int fail_no_python(const struct cunei_process_facts *process,
                          const char *executable, struct cunei_attach_error *error)
{
    const char *slash = strrchr(executable, '/');
    const char *name = slash ? slash + 1 : executable;

    if (begins_with(name, strlen(name), "pypy"))
        return cunei_attach_fail(error, -ENOEXEC,
                                 "process %d runs PyPy; cunei works with CPython only",
                                 (int)process->pid);
    return cunei_attach_fail(
        error, -ENOEXEC,
        "process %d is not a Python: its program '%s' contains no CPython; 'cunei "
        "list' shows the Python processes",
        (int)process->pid, executable);
}

static int look_into(struct candidate *candidate, const char *executable,
                     struct cunei_python_image *image, struct cunei_attach_error *error)
{
    struct cunei_python_image found = {0};

    int rc = open_candidate(candidate, error);
    if (rc < 0)
        return rc;
    rc = find_symbols(candidate);
    if (rc == -ENOEXEC || (rc == 0 && candidate->symbols[RUNTIME].address == 0)) {
        rc = fail_no_python(candidate->process, executable, error);
    } else {
        rc = rc < 0 ? rc : describe(candidate, &found);
        if (rc < 0)
            (void)cunei_attach_fail(
                error, rc, "process %d cannot be examined: '%s' cannot be read: %s",
                (int)candidate->process->pid, candidate->path, strerror(-rc));
    }
    close(candidate->fd);
    if (rc == 0)
        *image = found;
    return rc;
}

int cunei_python_image_find(const struct cunei_process_facts *process,
                            const struct cunei_memory_map *map,
                            struct cunei_python_image *image,
                            struct cunei_attach_error *error)
{
    char link[32], executable[PATH_MAX];
    struct candidate candidate = {.process = process, .map = map, .fd = -1};
    static const char deleted[] = " (deleted)";

    (void)snprintf(link, sizeof(link), "/proc/%d/exe", (int)process->pid);
    ssize_t length = readlink(link, executable, sizeof(executable) - 1);
    if (length < 0)
        return cunei_attach_fail(error, -errno,
                                 "process %d cannot be examined: %s; try as root",
                                 (int)process->pid, strerror(errno));
    executable[length] = '\0';
    size_t tail = sizeof(deleted) - 1;
    if ((size_t)length > tail && strcmp(executable + length - tail, deleted) == 0)
        executable[(size_t)length - tail] = '\0';
    if (!choose(&candidate, executable))
        return fail_no_python(process, executable, error);
    return look_into(&candidate, executable, image, error);
}

void cunei_python_image_fini(struct cunei_python_image *image)
{
    free(image->path);
    *image = (struct cunei_python_image){0};
}
