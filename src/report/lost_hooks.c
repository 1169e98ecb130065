// SPDX-License-Identifier: MIT
#include "report/lost_hooks.h"

#include <string.h>

#include "python/instrumenter.h"
#include "python/refusal_reason.h"
#include "text/format.h"

void cunei_lost_hooks_add(struct cunei_lost_hooks *taken,
                          const struct cunei_process *process)
{
    const char *frame = cunei_instrumenter_name(CUNEI_INSTRUMENTER_FRAME);

    if (process->instrumenter && strcmp(process->instrumenter, frame) == 0)
        taken->by_evaluator += process->taken;
    else
        taken->by_hook += process->taken;
    if (process->unheard == 0)
        return;
    if (taken->unheard++ == 0)
        taken->unheard_reason =
            process->unheard <= CUNEI_REFUSAL_MAX ? (int)process->unheard : 0;
}

static void put(uint64_t count, const char *why, struct cunei_buffer *out)
{
    if (count == 0)
        return;
    if (out->size > 0)
        cunei_buffer_append_text(out, "; ");
    cunei_format_several(out, count, "thread");
    cunei_buffer_format(out, " %s not recorded to the end%s",
                        count == 1 ? "was" : "were", why);
}

bool cunei_lost_hooks_format(const struct cunei_lost_hooks *taken,
                             struct cunei_buffer *out)
{
    put(taken->by_hook,
        ", or not at all: the program set or took away the hook that calls were told "
        "by, or C code made the thread",
        out);
    put(taken->by_evaluator,
        ": the program put an evaluator of frames that hands on to nobody in place of "
        "cunei's, as pydevd and old torch.compile do; PYDEVD_USE_FRAME_EVAL=NO or "
        "TORCHDYNAMO_DISABLE=1 in the environment keeps them from it",
        out);
    return out->size > 0;
}

bool cunei_lost_hooks_format_unheard(const struct cunei_lost_hooks *taken,
                                     struct cunei_buffer *out)
{
    if (taken->unheard == 0)
        return false;
    cunei_buffer_append_text(out, "decorated functions ");
    if (taken->unheard > 1) {
        cunei_buffer_append_text(out, "of ");
        cunei_format_several(out, taken->unheard, "process");
        cunei_buffer_append_text(out, " ");
    }
    cunei_buffer_append_text(out, "were not recorded: ");
    cunei_refusal_reason_format(taken->unheard_reason, out);
    return true;
}
