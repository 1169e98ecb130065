// SPDX-License-Identifier: MIT
/*
 * A running process, as cunei sees it before it attaches: is it a Python, which one,
 * and what of cunei is in it.  Looking changes nothing in the process.
 *
 *     struct cunei_target target = {0};
 *     struct cunei_attach_error error;
 *     if (cunei_target_open(pid, &target, &error) < 0)
 *         return cunei_cmd_fail("%s", error.text);
 *     if (target.is_armed)
 *         … connect to target.control …
 *     else
 *         … cunei_injection_check (attach/injection.h) …
 *     cunei_target_close(&target);
 */
#ifndef CUNEI_ATTACH_TARGET_H
#define CUNEI_ATTACH_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "attach/error.h"
#include "attach/process_facts.h"
#include "attach/python_image.h"

#define CUNEI_TARGET_PATH_MAX 4096

/* What has switched remote debugging off, as far as is known without looking inside. */
enum cunei_remote_debugging {
    CUNEI_REMOTE_DEBUGGING_POSSIBLE, /* or not known yet */
    CUNEI_REMOTE_DEBUGGING_NONE,     /* before CPython 3.14 */
    CUNEI_REMOTE_DEBUGGING_VARIABLE, /* PYTHON_DISABLE_REMOTE_DEBUG */
    CUNEI_REMOTE_DEBUGGING_OPTION,   /* -X disable-remote-debug */
    CUNEI_REMOTE_DEBUGGING_BUILD,    /* --without-remote-debug, or the program's own
                                        configuration; found with rights to trace */
};

struct cunei_target {
    struct cunei_process_facts process;
    struct cunei_python_image python;
    enum cunei_remote_debugging remote_debugging;
    bool has_probe;    /* cunei's extension is loaded */
    bool is_recording; /* it has a live file */
    bool is_armed;     /* `control` is a socket of the process's user */
    /* Where the control socket is or would be, as the process sees it; reached through
       /proc/PID/root. */
    char control[CUNEI_TARGET_PATH_MAX];
    /* XDG_RUNTIME_DIR of the process when it started; empty: it had none. */
    char runtime_directory[CUNEI_TARGET_PATH_MAX];
};

/*
 * Look at a process.  -ESRCH: there is none; -EPERM, -EACCES: we may not look;
 * -ENOEXEC: it is not a Python.  `error` says why and what to do.
 */
int cunei_target_open(pid_t pid, struct cunei_target *target,
                      struct cunei_attach_error *error);
void cunei_target_close(struct cunei_target *target);

/*
 * Whether its memory can be read and written; otherwise why not.  Also finds out
 * CUNEI_REMOTE_DEBUGGING_BUILD.
 */
int cunei_target_check_permission(struct cunei_target *target,
                                  struct cunei_attach_error *error);

/* One of all processes. */
struct cunei_target_entry {
    struct cunei_target target; /* only `process` if `rc` is not 0 */
    int rc;                     /* of cunei_target_open */
    struct cunei_attach_error error;
};

struct cunei_target_list {
    struct cunei_target_entry *items; /* owned, by pid */
    size_t count, capacity;
};

/*
 * All Python processes, and those that may be Pythons (by their name) and cannot be
 * examined; not the caller itself.  -ENOMEM, or why /proc cannot be read.
 */
int cunei_target_list_read(struct cunei_target_list *list);
void cunei_target_list_fini(struct cunei_target_list *list);

#endif
