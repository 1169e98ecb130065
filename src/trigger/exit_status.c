// SPDX-License-Identifier: MIT
/* The trigger `exit!=0`: a process ends with another exit status than 0. */
#include <inttypes.h>

#include "base/buffer.h"
#include "trace/process/process.h"
#include "trigger/kind.h"
#include "trigger/parse.h"
#include "trigger/place.h"

static int parse(struct cunei_trigger *trigger, const char *rest,
                 struct cunei_buffer *reason)
{
    return cunei_trigger_parse_word(trigger, rest, "!=0", reason);
}

static void look_at_end(struct cunei_trigger_place *place,
                        const struct cunei_trigger *trigger,
                        const struct cunei_trace_process *process)
{
    const struct cunei_process *ended = &process->description;
    struct cunei_buffer what = {0};

    if ((!ended->left && !ended->exited) || ended->exit_status == 0)
        return;
    cunei_buffer_format(&what, "exit status %" PRIu64, ended->exit_status);
    cunei_trigger_fire(place, trigger,
                       (struct cunei_trigger_finding){.value = ended->exit_status},
                       &what);
}

const struct cunei_trigger_kind cunei_trigger_kind_exit = {
    .name = "exit",
    .form = "exit!=0",
    .example = "exit!=0",
    .help = "a process ends with an exit status other than 0",
    .unit = "status",
    .parse = parse,
    .end = look_at_end,
};
