// SPDX-License-Identifier: MIT
/* The trigger `crash`: a signal kills a process, unless its parent has sent it. */
#include "base/buffer.h"
#include "trace/process/exit_words.h"
#include "trace/process/process.h"
#include "trigger/kind.h"
#include "trigger/parse.h"
#include "trigger/place.h"

static int parse(struct cunei_trigger *trigger, const char *rest,
                 struct cunei_buffer *reason)
{
    return cunei_trigger_parse_word(trigger, rest, "", reason);
}

static void look_at_end(struct cunei_trigger_place *place,
                        const struct cunei_trigger *trigger,
                        const struct cunei_trace_process *process)
{
    const struct cunei_process *ended = &process->description;
    struct cunei_buffer what = {0};
    bool is_killed = process->state == CUNEI_TRACE_KILLED || ended->signal > 0;

    if (!is_killed || process->state == CUNEI_TRACE_TERMINATED)
        return;
    cunei_buffer_append_text(&what, "killed");
    if (ended->signal > 0) {
        cunei_buffer_append_text(&what, " by ");
        cunei_exit_words_format(process, &what);
    }
    cunei_trigger_fire(place, trigger,
                       (struct cunei_trigger_finding){.value = ended->signal}, &what);
}

const struct cunei_trigger_kind cunei_trigger_kind_crash = {
    .name = "crash",
    .form = "crash",
    .example = "crash",
    .help = "a process is killed by a signal that its parent did not send",
    .unit = "signal",
    .parse = parse,
    .end = look_at_end,
};
