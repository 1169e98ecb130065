// SPDX-License-Identifier: MIT
#include "cmd/attach/arm_running.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "attach/injection.h"
#include "base/buffer.h"
#include "base/text.h"
#include "base/units.h"
#include "cmd/attach/attached.h"
#include "cmd/attach/remote_directory.h"
#include "cmd/common/message.h"
#include "cmd/record/interpreter.h"
#include "rt/clock.h"

#define POLL_NS (2 * CUNEI_NS_PER_MS)

/*
 * The cunei of the program's environment is used; where it has none, ours, if that is
 * for the same Python.  The braces are filled in as JSON strings, which Python reads
 * like its own.
 */
static const char script_begin[] = "import sys\n"
                                   "try:\n"
                                   "    import cunei\n"
                                   "except ImportError:\n"
                                   "    package = ";
static const char script_middle[] =
    "\n"
    "    if not package: raise\n"
    "    import importlib.util\n"
    "    spec = importlib.util.spec_from_file_location(\n"
    "        'cunei', package + '/__init__.py', submodule_search_locations=[package])\n"
    "    cunei = importlib.util.module_from_spec(spec)\n"
    "    sys.modules['cunei'] = cunei\n"
    "    try:\n"
    "        spec.loader.exec_module(cunei)\n"
    "        cunei._load()\n"
    "    except BaseException:\n"
    "        for name in [n for n in sys.modules if n.split('.')[0] == 'cunei']:\n"
    "            del sys.modules[name]\n"
    "        raise\n"
    "cunei._load()\n"
    "if not hasattr(sys.modules['cunei._probe'], 'arm'):\n"
    "    raise ImportError('cunei ' + cunei.__version__ + ' there cannot be attached')\n"
    "sys.modules['cunei._probe'].arm(";

/* Whether the process sees the same folder under this path. */
static bool is_visible(const struct cunei_target *target, const char *path)
{
    struct stat status;

    if (!target->process.is_in_other_mount_namespace)
        return true;
    if (stat(path, &status) < 0)
        return false;
    const struct cunei_file_id id = cunei_file_id_of(&status);
    return cunei_remote_directory_is_shared(&target->process, path, &id);
}

char *cunei_attach_own_package(const struct cunei_target *target)
{
    struct cunei_interpreter python = {0};
    char *path = cunei_interpreter_beside_us();
    char *package = NULL;

    if (path && cunei_interpreter_ask(&python, path, "", false) == 0 &&
        python.minor == (int)target->python.minor && *python.package &&
        (strcmp(python.gil, "no") == 0) == target->python.is_free_threaded &&
        is_visible(target, python.package))
        package = strdup(python.package);
    cunei_interpreter_fini(&python);
    free(path);
    return package;
}

static void format_script(const struct cunei_target *target, struct cunei_buffer *out)
{
    char *package = cunei_attach_own_package(target);
    const char *text = package ? package : "";

    cunei_buffer_append_text(out, script_begin);
    cunei_text_json(out, text, strlen(text));
    cunei_buffer_append_text(out, script_middle);
    cunei_text_json(out, CUNEI_ATTACHED_ARMED_BY, strlen(CUNEI_ATTACHED_ARMED_BY));
    cunei_buffer_append_text(out, ")\n");
    free(package);
}

/* Until it has run, or the time is over. */
static void wait_for_it(struct cunei_injection *injection, uint64_t timeout_ns)
{
    const struct timespec pause = {.tv_nsec = POLL_NS};
    uint64_t begin = cunei_clock_ns(CLOCK_MONOTONIC);
    struct cunei_attach_error error;

    while (cunei_injection_has_run(injection, &error) == 0 &&
           cunei_clock_ns(CLOCK_MONOTONIC) - begin < timeout_ns)
        (void)nanosleep(&pause, NULL);
}

static int explain(const struct cunei_target *target,
                   enum cunei_injection_outcome outcome, uint64_t timeout_ns,
                   const struct cunei_attach_error *error)
{
    int pid = (int)target->process.pid;

    if (!cunei_process_facts_is_alive(&target->process))
        return cunei_cmd_fail(0, "process %d has ended meanwhile", pid);
    if (outcome == CUNEI_INJECTION_FAILED)
        return cunei_cmd_fail(0,
                              "process %d cannot load cunei %s: %s; install cunei in "
                              "the environment of its Python",
                              pid, CUNEI_VERSION, error->text);
    return cunei_cmd_fail(0,
                          "process %d has not executed Python code for %.3g s: its "
                          "threads wait, or are in C code that does not release the "
                          "GIL; nothing was changed; try again while it works, or wait "
                          "longer with --timeout",
                          pid, (double)timeout_ns / (double)CUNEI_NS_PER_S);
}

int cunei_attach_arm_running(struct cunei_target *target, uint64_t timeout_ns)
{
    struct cunei_injection injection = {0};
    struct cunei_attach_error error = {0};
    struct cunei_buffer script = {0};

    format_script(target, &script);
    int rc = script.failed
                 ? -ENOMEM
                 : cunei_injection_begin(&injection, target, script.data, &error);
    cunei_buffer_fini(&script);
    if (rc == 0)
        wait_for_it(&injection, timeout_ns);
    struct cunei_attach_error ignored = {0};
    enum cunei_injection_outcome outcome =
        cunei_injection_end(&injection, rc < 0 ? &ignored : &error);
    if (rc < 0)
        return cunei_cmd_fail(0, "%s", error.text);
    return outcome == CUNEI_INJECTION_RAN
               ? EXIT_SUCCESS
               : explain(target, outcome, timeout_ns, &error);
}
