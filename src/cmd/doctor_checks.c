// SPDX-License-Identifier: MIT
#include "cmd/doctor_checks.h"

#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "python/incompatibility.h"
#include "python/instrumenter.h"
#include "python/refusal_reason.h"

void cunei_finding_say(struct cunei_finding *finding, enum cunei_finding_state state,
                       const char *text)
{
    finding->state = state;
    cunei_buffer_append_text(&finding->text, text);
}

static bool is_old(const struct cunei_doctor *patient)
{
    const struct cunei_interpreter *python = &patient->python;

    return python->major < CUNEI_INTERPRETER_MAJOR ||
           (python->major == CUNEI_INTERPRETER_MAJOR &&
            python->minor < CUNEI_INTERPRETER_MINOR);
}

void cunei_doctor_check_python(const struct cunei_doctor *patient,
                               struct cunei_finding *finding)
{
    const struct cunei_interpreter *python = &patient->python;

    bool old = is_old(patient);
    if (patient->python_rc == 0)
        cunei_buffer_format(
            &finding->text, "%s %s%s, %s%s",
            strcmp(python->implementation, "cpython") == 0 ? "CPython"
                                                           : python->implementation,
            python->version, strcmp(python->gil, "no") == 0 ? " without GIL" : "",
            *python->executable ? python->executable : python->path,
            old ? "; cunei needs 3.8" : "");
    else if (patient->python_rc == -EPROTO)
        cunei_buffer_format(&finding->text, "%s does not answer as a Python does%s%s",
                            python->path, *python->error ? ": " : "", python->error);
    else
        cunei_buffer_format(&finding->text, "%s: %s",
                            patient->wanted ? patient->wanted : "python3",
                            strerror(-patient->python_rc));
    if (patient->python_rc < 0 || old) {
        finding->state = CUNEI_FINDING_BAD;
        cunei_buffer_append_text(
            &finding->advice, "name another with --python: a path, or a name in PATH");
    }
}

void cunei_doctor_check_package(const struct cunei_doctor *patient,
                                struct cunei_finding *finding)
{
    if (patient->python_rc < 0)
        cunei_finding_say(finding, CUNEI_FINDING_BAD, "no Python to look into");
    /* What is in the way of an instrumenter stands in the row of those. */
    else if (!cunei_interpreter_can_record(&patient->python, CUNEI_INSTRUMENTER_NONE,
                                           &finding->advice))
        cunei_finding_say(finding, CUNEI_FINDING_BAD, "cannot record");
    else
        cunei_buffer_format(&finding->text, "%s in %s, started by cunei.pth",
                            patient->python.cunei, patient->python.package);
}

/* The ids of sys.monitoring that are left, where it is the default. */
static void put_ids(const char *tools, struct cunei_finding *finding)
{
    int free_count = !strchr(tools, '3') + !strchr(tools, '4') + !strchr(tools, '5');

    cunei_buffer_format(&finding->text, ", with %d of the tool ids 3 4 5 free",
                        free_count);
    if (free_count == 1) {
        finding->state = CUNEI_FINDING_NOTE;
        cunei_buffer_append_text(&finding->advice,
                                 "another tool starts with that Python and holds the "
                                 "others; a selection of functions costs more then");
    }
}

/* What is in the way of the default, or of another one. */
static void put_obstacles(const struct cunei_doctor *patient,
                          enum cunei_instrumenter best, struct cunei_finding *finding)
{
    for (int i = CUNEI_INSTRUMENTER_MONITORING; i < CUNEI_INSTRUMENTERS; i++) {
        enum cunei_instrumenter instrumenter = (enum cunei_instrumenter)i;
        int obstacle = cunei_interpreter_obstacle(&patient->python, instrumenter);
        if (!obstacle)
            continue;
        if (instrumenter == best)
            finding->state = CUNEI_FINDING_BAD;
        else if (finding->state == CUNEI_FINDING_OK)
            finding->state = CUNEI_FINDING_NOTE;
        cunei_buffer_format(&finding->advice,
                            "%s%s: ", finding->advice.size ? "; " : "",
                            cunei_instrumenter_name(instrumenter));
        cunei_refusal_reason_format(obstacle, &finding->advice);
    }
}

void cunei_doctor_check_instrumenter(const struct cunei_doctor *patient,
                                     struct cunei_finding *finding)
{
    int minor = patient->python.minor;

    if (patient->python_rc < 0) {
        cunei_finding_say(finding, CUNEI_FINDING_BAD, "no Python to look into");
        return;
    }
    if (is_old(patient)) {
        cunei_buffer_format(&finding->text, "cunei has none before 3.%d",
                            CUNEI_INTERPRETER_MINOR);
        finding->state = CUNEI_FINDING_BAD;
        return;
    }
    enum cunei_instrumenter best = cunei_instrumenter_default(minor);
    cunei_incompatibility_list(minor, &finding->text);
    cunei_buffer_format(&finding->text, "; %s is the default",
                        cunei_instrumenter_name(best));
    if (best == CUNEI_INSTRUMENTER_MONITORING)
        put_ids(patient->python.tools, finding);
    put_obstacles(patient, best, finding);
}

bool cunei_doctor_next_lack(const struct cunei_doctor *patient,
                            struct cunei_version_limit *lack)
{
    const struct cunei_python_version version = {
        .minor = patient->python.minor,
        .patch = patient->python.patch,
        .no_gil = strcmp(patient->python.gil, "no") == 0,
    };

    return cunei_version_limits_next(&version, lack);
}

/* What it cannot give; docs/reference/python-versions.md says more. */
void cunei_doctor_check_version(const struct cunei_doctor *patient,
                                struct cunei_finding *finding)
{
    struct cunei_version_limit lack = {0};

    if (patient->python_rc < 0)
        cunei_finding_say(finding, CUNEI_FINDING_BAD, "no Python to look into");
    else if (is_old(patient)) {
        cunei_buffer_format(&finding->text,
                            "too old: 3.%d is the first that is recorded",
                            CUNEI_INTERPRETER_MINOR);
        finding->state = CUNEI_FINDING_BAD;
    } else if (!cunei_doctor_next_lack(patient, &lack))
        cunei_finding_say(finding, CUNEI_FINDING_OK, "gives all that cunei records");
    else {
        finding->lists_lacks = true;
        cunei_finding_say(finding, CUNEI_FINDING_NOTE,
                          "does not give all that the newest do:");
    }
}

void cunei_doctor_put_json(const struct cunei_doctor *patient,
                           struct cunei_buffer *json)
{
    bool is_there = patient->python_rc == 0 && !is_old(patient);
    int minor = patient->python.minor;
    struct cunei_version_limit lack = {0};
    const char *separator = "";

    cunei_buffer_append_text(json, ",\"instrumenters\":[");
    for (int i = CUNEI_INSTRUMENTER_MONITORING; is_there && i < CUNEI_INSTRUMENTERS;
         i++) {
        enum cunei_instrumenter instrumenter = (enum cunei_instrumenter)i;
        if (!cunei_instrumenter_exists(instrumenter, minor))
            continue;
        cunei_buffer_format(json, "%s\"%s\"", separator,
                            cunei_instrumenter_name(instrumenter));
        separator = ",";
    }
    if (is_there)
        cunei_buffer_format(json, "],\"instrumenter\":\"%s\"",
                            cunei_instrumenter_name(cunei_instrumenter_default(minor)));
    else
        cunei_buffer_append_text(json, "],\"instrumenter\":null");
    cunei_buffer_append_text(json, ",\"limits\":[");
    separator = "";
    while (is_there && cunei_doctor_next_lack(patient, &lack)) {
        cunei_buffer_append_text(json, separator);
        cunei_text_json(json, lack.text, strlen(lack.text));
        separator = ",";
    }
    cunei_buffer_append_text(json, "]");
}
