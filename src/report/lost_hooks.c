// SPDX-License-Identifier: MIT
#include "report/lost_hooks.h"

#include <string.h>

#include "python/instrumenter.h"
#include "python/refusal_reason.h"
#include "text/format.h"

void cunei_lost_hooks_add(struct cunei_lost_hooks *lost,
                          const struct cunei_process *process)
{
    const char *frame = cunei_instrumenter_name(CUNEI_INSTRUMENTER_FRAME);

    if (process->instrumenter && strcmp(process->instrumenter, frame) == 0)
        lost->by_evaluator += process->lost_threads;
    else
        lost->by_hook += process->lost_threads;
    if (process->decorated_refusal == 0)
        return;
    if (lost->decorated++ == 0)
        lost->decorated_reason = process->decorated_refusal <= CUNEI_REFUSAL_MAX
                                     ? (int)process->decorated_refusal
                                     : 0;
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

bool cunei_lost_hooks_format(const struct cunei_lost_hooks *lost,
                             struct cunei_buffer *out)
{
    put(lost->by_hook,
        ", or not at all: the program replaced or removed cunei's hook, or C code "
        "started the thread",
        out);
    put(lost->by_evaluator,
        ": the program replaced cunei's frame evaluator by one that does not call it, "
        "as pydevd and old versions of torch.compile do; to prevent that, set "
        "PYDEVD_USE_FRAME_EVAL=NO or TORCHDYNAMO_DISABLE=1 in the environment",
        out);
    return out->size > 0;
}

bool cunei_lost_hooks_format_decorated(const struct cunei_lost_hooks *lost,
                                       struct cunei_buffer *out)
{
    if (lost->decorated == 0)
        return false;
    cunei_buffer_append_text(out, "decorated functions ");
    if (lost->decorated > 1) {
        cunei_buffer_append_text(out, "of ");
        cunei_format_several(out, lost->decorated, "process");
        cunei_buffer_append_text(out, " ");
    }
    cunei_buffer_append_text(out, "were not recorded: ");
    /* Without the advice for the command line: no other --instrumenter does the same.
     */
    cunei_buffer_append_text(out, cunei_refusal_reason_text(lost->decorated_reason));
    return true;
}
