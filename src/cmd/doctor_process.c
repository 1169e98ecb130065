// SPDX-License-Identifier: MIT
#include "cmd/doctor_process.h"

#include <inttypes.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include "attach/injection.h"
#include "attach/target.h"
#include "base/buffer.h"
#include "cmd/attach/arm_running.h"
#include "cmd/attach/command_words.h"
#include "cmd/attach/connect.h"
#include "cmd/attach/refusal_words.h"
#include "cmd/cmd.h"
#include "cmd/doctor_output.h"
#include "text/format.h"
#include "text/json.h"
#include "text/names.h"
#include "wire/process.h"

static void describe_process(const struct cunei_target *target,
                             struct cunei_finding *finding)
{
    const struct cunei_process_facts *facts = &target->process;
    const struct passwd *user = getpwuid(facts->effective_uid);
    struct cunei_process words;

    cunei_command_words_read(facts->pid, &words);
    cunei_buffer_format(&finding->text, "%d ", (int)facts->pid);
    if (words.argument_count > 0)
        cunei_format_program(&finding->text, &words);
    else
        cunei_buffer_append_text(&finding->text, facts->name);
    cunei_buffer_format(&finding->text, ", of user %s, ",
                        user ? user->pw_name : "without a name");
    cunei_format_several(&finding->text, facts->thread_count, "thread");
    cunei_process_fini(&words);
}

static void describe_python(const struct cunei_target *target,
                            struct cunei_finding *finding)
{
    const struct cunei_python_image *python = &target->python;

    cunei_buffer_format(&finding->text, "3.%u", python->minor);
    if (python->patch >= 0)
        cunei_buffer_format(&finding->text, ".%d", python->patch);
    cunei_buffer_format(&finding->text, "%s%s%s, in %s",
                        python->is_free_threaded ? ", free-threaded" : "",
                        python->is_debug ? ", a debug build" : "",
                        python->is_static ? ", linked statically" : "",
                        python->path ? python->path : "an unknown file");
}

static void describe_namespaces(const struct cunei_target *target,
                                struct cunei_finding *finding)
{
    const struct cunei_process_facts *facts = &target->process;
    const struct {
        bool is_other;
        const char *name;
    } namespaces[] = {
        {facts->is_in_other_pid_namespace, "pid"},
        {facts->is_in_other_mount_namespace, "mount"},
        {facts->is_in_other_network_namespace, "network"},
        {facts->is_in_other_user_namespace, "user"},
    };

    for (size_t i = 0; i < sizeof(namespaces) / sizeof(namespaces[0]); i++) {
        if (namespaces[i].is_other)
            cunei_buffer_format(&finding->text, "%s%s", finding->text.size ? ", " : "",
                                namespaces[i].name);
    }
    if (finding->text.size == 0)
        cunei_buffer_append_text(&finding->text, "the same as this shell");
    else
        cunei_buffer_append_text(&finding->text, ": other ones, as in a container");
}

static void describe_cunei(const struct cunei_target *target,
                           struct cunei_finding *finding)
{
    char *package = cunei_attach_own_package(target);
    const char *text = target->is_recording ? "it is being recorded"
                       : target->is_armed   ? "it is armed"
                       : target->has_probe  ? "it is loaded, and does nothing"
                                            : "it is not loaded";

    cunei_buffer_append_text(&finding->text, text);
    if (!target->has_probe && !package) {
        finding->state = CUNEI_FINDING_NOTE;
        cunei_buffer_format(&finding->text,
                            "; attaching loads it from the environment of its Python, "
                            "as this cunei is not for Python 3.%u%s there",
                            target->python.minor,
                            target->python.is_free_threaded ? "t" : "");
        cunei_buffer_append_text(&finding->advice, "install cunei there, if it is not");
    }
    free(package);
}

static void describe_attaching(struct cunei_target *target,
                               struct cunei_finding *finding)
{
    struct cunei_attach_error error;

    if (target->is_recording) {
        finding->state = CUNEI_FINDING_BAD;
        cunei_buffer_append_text(&finding->text,
                                 "it is being recorded already; there is one recording "
                                 "at a time");
        cunei_buffer_format(&finding->advice,
                            "cunei top %d, or cunei snapshot %d, shows it",
                            (int)target->process.pid, (int)target->process.pid);
        return;
    }
    if (target->is_armed) {
        cunei_buffer_append_text(&finding->text,
                                 "possible, by the socket of the armed process");
        return;
    }
    if (cunei_injection_check(target, &error) < 0) {
        finding->state = CUNEI_FINDING_BAD;
        cunei_refusal_words_split(error.text, &finding->text, &finding->advice);
        return;
    }
    cunei_buffer_format(&finding->text, "possible, by %s",
                        cunei_injection_way_of(target)->name);
    cunei_buffer_format(&finding->advice, "cunei attach %d", (int)target->process.pid);
}

int cunei_doctor_process(const char *word, bool as_json)
{
    struct cunei_json json = {.out = stdout};
    struct cunei_doctor_output output = {.json = as_json ? &json : NULL};
    struct cunei_target target = {0};
    struct cunei_finding finding = {0};

    int status = cunei_attach_open_target(word, &target);
    if (status != EXIT_SUCCESS)
        return status;
    cunei_doctor_output_begin(&output);
    describe_process(&target, &finding);
    cunei_doctor_output_add(&output, "process", &finding);
    describe_python(&target, &finding);
    cunei_doctor_output_add(&output, "python", &finding);
    describe_namespaces(&target, &finding);
    cunei_doctor_output_add(&output, "namespaces", &finding);
    describe_cunei(&target, &finding);
    cunei_doctor_output_add(&output, "cunei", &finding);
    describe_attaching(&target, &finding);
    cunei_doctor_output_add(&output, "attaching", &finding);
    cunei_target_close(&target);
    return cunei_doctor_output_end(&output, "can_attach");
}
