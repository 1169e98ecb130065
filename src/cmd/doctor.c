// SPDX-License-Identifier: MIT
/* `cunei doctor`: what this machine and this Python support, a row for each. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/buffer.h"
#include "cmd/cmd.h"
#include "cmd/common/options.h"
#include "cmd/common/search_path.h"
#include "cmd/doctor_checks.h"
#include "cmd/doctor_output.h"
#include "cmd/doctor_process.h"
#include "cmd/record/config.h"
#include "cmd/record/interpreter.h"
#include "cmd/record/option_conflict.h"
#include "cmd/record/program.h"
#include "cmd/record/record_options.h"
#include "export/formats.h"
#include "rt/clock.h"
#include "text/json.h"

struct values {
    const char *python;
    bool json;
};

static void check_kernel(const struct cunei_doctor *doctor,
                         struct cunei_finding *finding)
{
    struct utsname name;
    (void)doctor;

    if (uname(&name) == 0)
        cunei_buffer_format(&finding->text, "%s %s, %s", name.sysname, name.release,
                            name.machine);
}

static void check_clock(const struct cunei_doctor *doctor,
                        struct cunei_finding *finding)
{
    const char *why = "";
    (void)doctor;

    if (cunei_clock_has_counter(&why)) {
        cunei_buffer_format(&finding->text,
                            "the processor's counter, the same on all cores, %.6f GHz",
                            (double)cunei_clock_calibrate(10000) / 1e9);
        return;
    }
    finding->state = CUNEI_FINDING_NOTE;
    cunei_buffer_format(&finding->text, "clock_gettime, because %s", why);
    cunei_buffer_append_text(&finding->advice, "each event costs about 20 ns more");
}

static const char *system_name(const char *path)
{
    static const struct {
        unsigned long type;
        const char *name;
    } names[] = {
        {EXT4_SUPER_MAGIC, "ext4"},   {XFS_SUPER_MAGIC, "xfs"},
        {BTRFS_SUPER_MAGIC, "btrfs"}, {TMPFS_MAGIC, "tmpfs"},
        {NFS_SUPER_MAGIC, "nfs"},     {OVERLAYFS_SUPER_MAGIC, "overlayfs"},
        {0x0bd00bd0, "lustre"},       {0x65735546, "fuse"},
        {0x01021997, "9p"},           {0x2fc12fc1, "zfs"},
    };
    struct statfs system;

    if (statfs(path, &system) == 0) {
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
            if ((unsigned long)system.f_type == names[i].type)
                return names[i].name;
        }
    }
    return "file system";
}

/* Whether files in `folder` can be written and mapped; negative errno where not. */
static int try_mapping(const char *folder, size_t size)
{
    char path[256];
    int rc = 0;

    (void)snprintf(path, sizeof(path), "%s/.cunei-XXXXXX", folder);
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0)
        return -errno;
    (void)unlink(path);
    rc = -posix_fallocate(fd, 0, (off_t)size);
    if (rc == 0) {
        void *mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (mapped == MAP_FAILED)
            rc = -errno;
        else
            munmap(mapped, size);
    }
    close(fd);
    return rc;
}

static void check_folder(const struct cunei_doctor *doctor,
                         struct cunei_finding *finding)
{
    struct statvfs system;
    (void)doctor;

    int rc = try_mapping(".", 4096);
    if (rc == -EACCES || rc == -EROFS || rc == -EPERM) {
        cunei_finding_set(finding, CUNEI_FINDING_NOTE, "cannot be written");
        cunei_buffer_append_text(&finding->advice, "choose another directory with -o");
        return;
    }
    cunei_buffer_format(&finding->text, "%s, %s", system_name("."),
                        rc == 0 ? "can map files" : "cannot map files");
    if (rc < 0) {
        finding->state = CUNEI_FINDING_NOTE;
        cunei_buffer_append_text(&finding->advice,
                                 "the live file of a recording is in /dev/shm instead");
    }
    if (statvfs(".", &system) < 0)
        return;
    uint64_t free_bytes = (uint64_t)system.f_bavail * system.f_frsize;
    uint64_t all_bytes = (uint64_t)system.f_blocks * system.f_frsize;
    cunei_buffer_format(&finding->text, ", %.1f GiB free of %.1f GiB",
                        (double)free_bytes / 0x1p30, (double)all_bytes / 0x1p30);
    if (free_bytes < (UINT64_C(1) << 30) || free_bytes < all_bytes / 20) {
        finding->state = CUNEI_FINDING_BAD;
        cunei_buffer_append_text(
            &finding->advice, "cunei records only where 1 GiB and 5 % are free; free "
                              "some space, or choose another directory with -o");
    }
}

/* Whether `cunei record` would accept it: 0, or -EINVAL with the reason in `text`. */
static int apply_config(struct cunei_config *config, struct cunei_buffer *text)
{
    struct cunei_record_options options = CUNEI_RECORD_OPTIONS_DEFAULTS;
    struct cunei_buffer notes = {0};

    options.quiet = true;
    (void)cunei_cmd_catch(&notes);
    int rc = cunei_config_apply(config, &options);
    (void)cunei_cmd_catch(NULL);
    cunei_buffer_fini(&notes);
    if (rc == 0)
        (void)cunei_option_conflict_find(&options, config, NULL, text);
    cunei_record_options_fini(&options);
    return text->size ? -EINVAL : rc;
}

/* What `cunei record` would find for a program of the working directory. */
static void check_config(const struct cunei_doctor *doctor,
                         struct cunei_finding *finding)
{
    struct cunei_config config = {0};
    char *folder = getcwd(NULL, 0);
    (void)doctor;

    int rc = folder ? cunei_config_read(&config, folder) : -errno;
    if (rc == 0 && config.path)
        rc = apply_config(&config, &finding->text);
    if (rc == -EINVAL) {
        finding->state = CUNEI_FINDING_BAD;
        if (!finding->text.size)
            cunei_buffer_format(&finding->text, "%s:%zu:%zu: %s", config.path,
                                config.error.line, config.error.column,
                                config.error.text);
        cunei_buffer_append_text(&finding->advice,
                                 "fix it, or ignore it with --no-config");
    } else if (rc < 0 || !config.path)
        cunei_buffer_append_text(&finding->text,
                                 "no [tool.cunei] in a pyproject.toml here or above");
    else {
        cunei_buffer_format(&finding->text, "[tool.cunei] in %s: ", config.path);
        cunei_config_format(&config, &finding->text);
    }
    cunei_config_fini(&config);
    free(folder);
}

static void check_shared_memory(const struct cunei_doctor *doctor,
                                struct cunei_finding *finding)
{
    struct statvfs system;
    (void)doctor;

    int rc = try_mapping("/dev/shm", 4096);
    if (rc < 0) {
        cunei_buffer_format(&finding->text, "cannot be used: %s", strerror(-rc));
        cunei_buffer_append_text(
            &finding->advice, "it is needed only where the trace's file system cannot "
                              "map files");
        finding->state = CUNEI_FINDING_NOTE;
    } else if (statvfs("/dev/shm", &system) == 0)
        cunei_buffer_format(&finding->text, "%.1f GiB free",
                            (double)system.f_bavail * (double)system.f_frsize / 0x1p30);
}

static void check_limits(const struct cunei_doctor *doctor,
                         struct cunei_finding *finding)
{
    struct rlimit size, files;
    (void)doctor;

    if (getrlimit(RLIMIT_FSIZE, &size) < 0 || getrlimit(RLIMIT_NOFILE, &files) < 0)
        return;
    cunei_buffer_format(&finding->text, "%" PRIu64 " open files, ",
                        (uint64_t)files.rlim_cur);
    if (size.rlim_cur == RLIM_INFINITY) {
        cunei_buffer_append_text(&finding->text, "files of any size");
        return;
    }
    finding->state = CUNEI_FINDING_NOTE;
    cunei_buffer_format(&finding->text, "files up to %" PRIu64 " bytes",
                        (uint64_t)size.rlim_cur);
    cunei_buffer_append_text(
        &finding->advice,
        "recording stops at that size; raise the limit with 'ulimit -f'");
}

/* `package`: the Debian package that contains the command. */
static void look_for(struct cunei_finding *finding, const char *command,
                     const char *use, const char *package)
{
    char *path = cunei_search_path_find(command);

    finding->state = path ? CUNEI_FINDING_OK : CUNEI_FINDING_MISSING;
    cunei_buffer_format(&finding->text, "%s; %s", path ? path : "not found", use);
    if (!path)
        cunei_buffer_format(&finding->advice, "apt-get install %s", package);
    free(path);
}

static void check_babeltrace(const struct cunei_doctor *doctor,
                             struct cunei_finding *finding)
{
    (void)doctor;
    look_for(finding, "babeltrace2", "optional; prints and converts traces",
             "babeltrace2");
}

static void check_otf2(const struct cunei_doctor *doctor, struct cunei_finding *finding)
{
    const struct cunei_export_format *format =
        cunei_export_find("otf2", strlen("otf2"));

    (void)doctor;
    bool is_missing = cunei_export_lacks(format, &finding->advice);
    finding->state = is_missing ? CUNEI_FINDING_MISSING : CUNEI_FINDING_OK;
    cunei_buffer_format(&finding->text, "%s; optional; for --to otf2",
                        is_missing ? "not found" : "libotf2");
}

static void check_mpi(const struct cunei_doctor *doctor, struct cunei_finding *finding)
{
    (void)doctor;
    look_for(finding, "mpiexec",
             "optional; MPI ranks are recorded like other processes", "openmpi-bin");
}

static const struct {
    const char *name;
    void (*run)(const struct cunei_doctor *doctor, struct cunei_finding *finding);
} checks[] = {
    {"kernel", check_kernel},
    {"clock", check_clock},
    {"python", cunei_doctor_check_python},
    {"cunei", cunei_doctor_check_package},
    {"instrumenter", cunei_doctor_check_instrumenter},
    {"version", cunei_doctor_check_version},
    {"directory", check_folder},
    {"config", check_config},
    {"/dev/shm", check_shared_memory},
    {"limits", check_limits},
    {"babeltrace2", check_babeltrace},
    {"otf2", check_otf2},
    {"mpi", check_mpi},
};
#define CHECK_COUNT (sizeof(checks) / sizeof(checks[0]))

static int examine(const struct cunei_doctor *doctor, bool as_json)
{
    struct cunei_json json = {.out = stdout};
    struct cunei_doctor_output output = {.json = as_json ? &json : NULL,
                                         .doctor = doctor};

    cunei_doctor_output_begin(&output);
    for (size_t i = 0; i < CHECK_COUNT; i++) {
        struct cunei_finding finding = {0};
        checks[i].run(doctor, &finding);
        cunei_doctor_output_add(&output, checks[i].name, &finding);
    }
    return cunei_doctor_output_end(&output, "can_record");
}

static int run_doctor(int argc, char **argv)
{
    struct values values = {0};
    struct cunei_doctor doctor = {.python_rc = -ENOENT};

    int status = cunei_options_parse(&cunei_cmd_doctor, &argc, argv, &values);
    if (status != CUNEI_OPTIONS_CONTINUE)
        return status;
    if (argc > 2 || (argc > 1 && values.python))
        return cunei_cmd_usage("unexpected argument '%s'; usage: cunei doctor %s",
                               argv[argc - 1], cunei_cmd_doctor.args);
    if (argc > 1)
        return cunei_doctor_process(argv[1], values.json);
    char *path = values.python ? cunei_search_path_find(values.python)
                               : cunei_program_default_python();
    doctor.wanted = values.python;
    if (path)
        doctor.python_rc = cunei_interpreter_ask(&doctor.python, path, "", true);
    status = examine(&doctor, values.json);
    cunei_interpreter_fini(&doctor.python);
    free(path);
    return status;
}

static const struct cunei_option options[] = {
    {.name = "python",
     .kind = CUNEI_OPTION_TEXT,
     .value = "PYTHON",
     .help = "check this Python: a name or a path",
     .offset = offsetof(struct values, python)},
    {.name = "json",
     .kind = CUNEI_OPTION_FLAG,
     .help = "print one JSON object",
     .offset = offsetof(struct values, json)},
    {0},
};

const struct cunei_cmd cunei_cmd_doctor = {
    .name = "doctor",
    .args = "[--python PYTHON | PID] [--json]",
    .summary = "check what this machine, a Python or a process supports",
    .help =
        "Checks the clock, the Python, the working directory and the limits, and says\n"
        "what to do if something is missing. The exit status is 1 if nothing can be\n"
        "recorded. With a PID it says whether 'cunei attach' can record that process,\n"
        "and how, or what is in the way; nothing in the process is touched.\n"
        "\n"
        "  cunei doctor\n"
        "  cunei doctor --python python3.13\n"
        "  cunei doctor 4711",
    .options = options,
    .run = run_doctor,
};
