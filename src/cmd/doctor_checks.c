// SPDX-License-Identifier: MIT
#include "cmd/doctor_checks.h"

#include <errno.h>
#include <string.h>

#include "python/incompatibility.h"
#include "python/instrumenter.h"
#include "python/refusal_reason.h"
#include "text/json.h"

void cunei_finding_set(struct cunei_finding *finding, enum cunei_finding_state state,
                       const char *text)
{
    finding->state = state;
    cunei_buffer_append_text(&finding->text, text);
}

static bool is_old(const struct cunei_doctor *doctor)
{
    const struct cunei_interpreter *python = &doctor->python;

    return python->major < CUNEI_INTERPRETER_MAJOR ||
           (python->major == CUNEI_INTERPRETER_MAJOR &&
            python->minor < CUNEI_INTERPRETER_MINOR);
}

void cunei_doctor_check_python(const struct cunei_doctor *doctor,
                               struct cunei_finding *finding)
{
    const struct cunei_interpreter *python = &doctor->python;

    bool old = is_old(doctor);
    if (doctor->python_rc == 0)
        cunei_buffer_format(
            &finding->text, "%s %s%s, %s%s",
            strcmp(python->implementation, "cpython") == 0 ? "CPython"
                                                           : python->implementation,
            python->version, strcmp(python->gil, "no") == 0 ? " without GIL" : "",
            *python->executable ? python->executable : python->path,
            old ? "; cunei needs 3.8 or newer" : "");
    else if (doctor->python_rc == -EPROTO)
        cunei_buffer_format(&finding->text, "%s is not a working Python%s%s",
                            python->path, *python->error ? ": " : "", python->error);
    else
        cunei_buffer_format(&finding->text, "%s: %s",
                            doctor->wanted ? doctor->wanted : "python3",
                            strerror(-doctor->python_rc));
    if (doctor->python_rc < 0 || old) {
        finding->state = CUNEI_FINDING_BAD;
        cunei_buffer_append_text(
            &finding->advice,
            "choose another with --python: a path, or a name in PATH");
    }
}

void cunei_doctor_check_package(const struct cunei_doctor *doctor,
                                struct cunei_finding *finding)
{
    if (doctor->python_rc < 0)
        cunei_finding_set(finding, CUNEI_FINDING_BAD, "no Python to check");
    /* What prevents an instrumenter is in the row of the instrumenters. */
    else if (!cunei_interpreter_can_record(&doctor->python, CUNEI_INSTRUMENTER_NONE,
                                           &finding->advice))
        cunei_finding_set(finding, CUNEI_FINDING_BAD, "cannot record");
    else
        cunei_buffer_format(&finding->text, "%s in %s, started by cunei.pth",
                            doctor->python.cunei, doctor->python.package);
}

/* The free tool ids of sys.monitoring, where that is the default. */
static void put_ids(const char *tools, struct cunei_finding *finding)
{
    int free_count = !strchr(tools, '3') + !strchr(tools, '4') + !strchr(tools, '5');

    cunei_buffer_format(&finding->text, ", with %d of the tool ids 3 4 5 free",
                        free_count);
    if (free_count == 1) {
        finding->state = CUNEI_FINDING_NOTE;
        cunei_buffer_append_text(&finding->advice,
                                 "another tool starts with that Python and uses the "
                                 "others; selecting functions then costs more");
    }
}

/* Why the default, or another instrumenter, cannot be used. */
static void put_obstacles(const struct cunei_doctor *doctor,
                          enum cunei_instrumenter best, struct cunei_finding *finding)
{
    for (int i = CUNEI_INSTRUMENTER_MONITORING; i < CUNEI_INSTRUMENTERS; i++) {
        enum cunei_instrumenter instrumenter = (enum cunei_instrumenter)i;
        int obstacle = cunei_interpreter_obstacle(&doctor->python, instrumenter);
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

void cunei_doctor_check_instrumenter(const struct cunei_doctor *doctor,
                                     struct cunei_finding *finding)
{
    int minor = doctor->python.minor;

    if (doctor->python_rc < 0) {
        cunei_finding_set(finding, CUNEI_FINDING_BAD, "no Python to check");
        return;
    }
    if (is_old(doctor)) {
        cunei_buffer_format(&finding->text, "none: cunei needs CPython 3.%d or newer",
                            CUNEI_INTERPRETER_MINOR);
        finding->state = CUNEI_FINDING_BAD;
        return;
    }
    enum cunei_instrumenter best = cunei_instrumenter_default(minor);
    cunei_incompatibility_list(minor, &finding->text);
    cunei_buffer_format(&finding->text, "; %s is the default",
                        cunei_instrumenter_name(best));
    if (best == CUNEI_INSTRUMENTER_MONITORING)
        put_ids(doctor->python.tools, finding);
    put_obstacles(doctor, best, finding);
}

bool cunei_doctor_next_limit(const struct cunei_doctor *doctor,
                             struct cunei_version_limit *limit)
{
    const struct cunei_python_version version = {
        .minor = doctor->python.minor,
        .patch = doctor->python.patch,
        .no_gil = strcmp(doctor->python.gil, "no") == 0,
    };

    return cunei_version_limits_next(&version, limit);
}

/* What it cannot give; docs/reference/python-versions.md says more. */
void cunei_doctor_check_version(const struct cunei_doctor *doctor,
                                struct cunei_finding *finding)
{
    struct cunei_version_limit limit = {0};

    if (doctor->python_rc < 0)
        cunei_finding_set(finding, CUNEI_FINDING_BAD, "no Python to check");
    else if (is_old(doctor)) {
        cunei_buffer_format(&finding->text,
                            "too old: cunei needs CPython 3.%d or newer",
                            CUNEI_INTERPRETER_MINOR);
        finding->state = CUNEI_FINDING_BAD;
    } else if (!cunei_doctor_next_limit(doctor, &limit))
        cunei_finding_set(finding, CUNEI_FINDING_OK,
                          "no limits: supports all that cunei records");
    else {
        finding->lists_limits = true;
        cunei_finding_set(finding, CUNEI_FINDING_NOTE,
                          "limits of this Python version:");
    }
}

void cunei_doctor_put_json(const struct cunei_doctor *doctor, struct cunei_json *json)
{
    bool is_usable = doctor->python_rc == 0 && !is_old(doctor);
    int minor = doctor->python.minor;
    struct cunei_version_limit limit = {0};

    cunei_json_open(json, "instrumenters", '[');
    for (int i = CUNEI_INSTRUMENTER_MONITORING; is_usable && i < CUNEI_INSTRUMENTERS;
         i++) {
        enum cunei_instrumenter instrumenter = (enum cunei_instrumenter)i;
        if (cunei_instrumenter_exists(instrumenter, minor))
            cunei_json_text(json, NULL, cunei_instrumenter_name(instrumenter));
    }
    cunei_json_close(json, ']');
    cunei_json_text(
        json, "instrumenter",
        is_usable ? cunei_instrumenter_name(cunei_instrumenter_default(minor)) : NULL);
    cunei_json_open(json, "limits", '[');
    while (is_usable && cunei_doctor_next_limit(doctor, &limit))
        cunei_json_text(json, NULL, limit.text);
    cunei_json_close(json, ']');
}
