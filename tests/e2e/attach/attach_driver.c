// SPDX-License-Identifier: MIT
/*
 * What src/attach does, for the tests of it:
 *
 *     attach_driver look PID         facts about the process, as JSON
 *     attach_driver list             the processes, a line of JSON each
 *     attach_driver check PID        whether a script can be executed there
 *     attach_driver run PID SECONDS SCRIPT [COUNT [WORD]]
 *                                    execute it, several times; times as JSON; WORD is
 *                                    printed when the request has been made
 *
 * A refusal is printed as a sentence, with status 2.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "attach/injection.h"
#include "attach/target.h"

static const char *const outcomes[] = {
    [CUNEI_INJECTION_WITHDRAWN] = "withdrawn",
    [CUNEI_INJECTION_RUNNING] = "running",
    [CUNEI_INJECTION_FAILED] = "failed",
    [CUNEI_INJECTION_RAN] = "ran",
};

static int refuse(const struct cunei_attach_error *error)
{
    puts(error->text);
    return 2;
}

static double now(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static const char *word(bool value)
{
    return value ? "true" : "false";
}

static void print(const struct cunei_target *target)
{
    const struct cunei_process_facts *process = &target->process;
    const struct cunei_python_image *python = &target->python;

    printf(
        "{\"pid\": %d, \"inner_pid\": %d, \"uid\": %u, \"minor\": %u, \"patch\": %d, "
        "\"library\": %s, \"static\": %s, \"free_threaded\": %s, \"debug\": %s, "
        "\"remote_debugging\": %d, \"probe\": %s, \"recording\": %s, \"armed\": %s, "
        "\"control\": \"%s\", \"pid_namespace\": %s, \"mount_namespace\": %s, "
        "\"network_namespace\": %s}\n",
        (int)process->pid, (int)process->inner_pid, (unsigned)process->uid,
        python->minor, python->patch, word(python->is_library), word(python->is_static),
        word(python->is_free_threaded), word(python->is_debug),
        (int)target->remote_debugging, word(target->has_probe),
        word(target->is_recording), word(target->is_armed), target->control,
        word(process->is_in_other_pid_namespace),
        word(process->is_in_other_mount_namespace),
        word(process->is_in_other_network_namespace));
}

static int list(void)
{
    struct cunei_target_list all = {0};

    if (cunei_target_list_read(&all) < 0)
        return 1;
    for (size_t i = 0; i < all.count; i++) {
        if (all.items[i].rc == 0)
            print(&all.items[i].target);
        else
            printf("{\"pid\": %d, \"error\": \"%s\"}\n",
                   (int)all.items[i].target.process.pid, all.items[i].error.text);
    }
    cunei_target_list_fini(&all);
    return 0;
}

static void wait_until(struct cunei_injection *injection, double deadline,
                       struct cunei_attach_error *error)
{
    const struct timespec step = {.tv_nsec = 500000};

    while (cunei_injection_has_run(injection, error) == 0 && now() < deadline)
        (void)nanosleep(&step, NULL);
}

static int run(struct cunei_target *target, double seconds, const char *script,
               const char *asked)
{
    struct cunei_injection injection = {0};
    struct cunei_attach_error error = {0};
    double begin = now();

    int rc = cunei_injection_begin(&injection, target, script, &error);
    if (rc == 0 && asked) {
        puts(asked);
        (void)fflush(stdout);
    }
    if (rc == 0)
        wait_until(&injection, begin + seconds, &error);
    double latency = now() - begin;
    enum cunei_injection_outcome outcome = cunei_injection_end(&injection, &error);
    if (rc < 0)
        return refuse(&error);
    printf("{\"outcome\": \"%s\", \"latency_ms\": %.3f, \"stopped_ms\": %.3f, "
           "\"error\": \"%s\"}\n",
           outcomes[outcome], latency * 1e3, (double)injection.stopped_ns / 1e6,
           error.text);
    return outcome == CUNEI_INJECTION_RAN ? 0 : 1;
}

static int run_often(struct cunei_target *target, int count, char **arguments)
{
    int rc = 0;

    for (long left = count > 4 ? strtol(arguments[4], NULL, 10) : 1;
         rc == 0 && left > 0; left--)
        rc = run(target, strtod(arguments[2], NULL), arguments[3],
                 count > 5 ? arguments[5] : NULL);
    return rc;
}

static int act(struct cunei_target *target, int count, char **arguments)
{
    struct cunei_attach_error error = {0};

    if (strcmp(arguments[0], "look") == 0) {
        print(target);
        return 0;
    }
    if (strcmp(arguments[0], "run") == 0 && count > 3)
        return run_often(target, count, arguments);
    if (cunei_injection_check(target, &error) < 0)
        return refuse(&error);
    puts(cunei_injection_way_of(target)->name);
    return 0;
}

int main(int argc, char **argv)
{
    struct cunei_target target = {0};
    struct cunei_attach_error error = {0};

    if (argc == 2 && strcmp(argv[1], "list") == 0)
        return list();
    if (argc < 3)
        return 1;
    if (cunei_target_open((pid_t)strtol(argv[2], NULL, 10), &target, &error) < 0)
        return refuse(&error);
    int rc = act(&target, argc - 1, argv + 1);
    cunei_target_close(&target);
    return rc;
}
