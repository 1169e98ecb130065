// SPDX-License-Identifier: MIT
#include "cmd/instrumenter.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Pythons of both kinds, where it is not known which one it will be. */
static const int minors[] = {11, 12};

typedef bool gives(enum cunei_instrumenter instrumenter, int minor);

enum cunei_instrumenter cunei_recording_instrumenter(
    const struct cunei_recording_values *values)
{
    return values->instrumenter < 0
               ? CUNEI_INSTRUMENTER_DEFAULT
               : (enum cunei_instrumenter)(CUNEI_INSTRUMENTER_MONITORING +
                                           values->instrumenter);
}

static bool can(gives *ask, enum cunei_instrumenter instrumenter,
                const struct cunei_interpreter *python)
{
    if (python)
        return ask(instrumenter, python->minor);
    for (size_t i = 0; i < sizeof(minors) / sizeof(minors[0]); i++) {
        if (ask(instrumenter, minors[i]))
            return true;
    }
    return false;
}

/* "a, b or c": those for which `ask` says yes. */
static void list(struct cunei_buffer *out, gives *ask,
                 const struct cunei_interpreter *python, const char *last)
{
    enum cunei_instrumenter found[CUNEI_INSTRUMENTERS];
    size_t count = 0;

    for (int i = CUNEI_INSTRUMENTER_MONITORING; i < CUNEI_INSTRUMENTERS; i++) {
        if (can(ask, (enum cunei_instrumenter)i, python) &&
            can(cunei_instrumenter_exists, (enum cunei_instrumenter)i, python))
            found[count++] = (enum cunei_instrumenter)i;
    }
    for (size_t i = 0; i < count; i++)
        cunei_buffer_format(out, "%s%s",
                            i == 0           ? ""
                            : i == count - 1 ? last
                                             : ", ",
                            cunei_instrumenter_name(found[i]));
}

static void refuse_option(struct cunei_buffer *reason, const char *option,
                          enum cunei_instrumenter instrumenter, gives *ask,
                          const struct cunei_interpreter *python)
{
    cunei_buffer_format(reason, "%s cannot be had with --instrumenter %s; choose ",
                        option, cunei_instrumenter_name(instrumenter));
    list(reason, ask, python, " or ");
}

void cunei_recording_check_instrumenter(const struct cunei_recording_values *values,
                                        const struct cunei_interpreter *python,
                                        struct cunei_buffer *reason)
{
    enum cunei_instrumenter wanted = cunei_recording_instrumenter(values);

    if (wanted == CUNEI_INSTRUMENTER_DEFAULT)
        return;
    if (!can(cunei_instrumenter_exists, wanted, python)) {
        cunei_buffer_format(reason,
                            "--instrumenter %s needs CPython %s, and '%s' is CPython "
                            "%s, which has ",
                            cunei_instrumenter_name(wanted),
                            wanted == CUNEI_INSTRUMENTER_MONITORING
                                ? "3.12 or newer"
                                : "3.12 or older, or 3.14 or newer",
                            python->path, python->version);
        list(reason, cunei_instrumenter_exists, python, " and ");
    } else if (wanted == CUNEI_INSTRUMENTER_FRAME && python && python->gil &&
               strcmp(python->gil, "no") == 0)
        cunei_buffer_format(reason,
                            "--instrumenter frame needs a GIL, and '%s' runs without "
                            "one; choose monitoring, profile, trace or none",
                            python->path);
    else if (values->c_calls && !can(cunei_instrumenter_has_c_calls, wanted, python))
        refuse_option(reason, "--c-calls", wanted, cunei_instrumenter_has_c_calls,
                      python);
    else if (values->lines.count && !can(cunei_instrumenter_has_lines, wanted, python))
        refuse_option(reason, "--lines", wanted, cunei_instrumenter_has_lines, python);
    else if (wanted == CUNEI_INSTRUMENTER_NONE &&
             values->arguments.count + values->results.count > 0)
        cunei_buffer_format(reason,
                            "--%s cannot be had with --instrumenter none, which "
                            "records no calls; leave one of the two out",
                            values->arguments.count ? "args" : "return");
}
