// SPDX-License-Identifier: MIT
#include "python/refusal_reason.h"

#include <stdio.h>
#include <string.h>

/* Decimal places of the parts of an incompatibility, so that people can read the
 * number. */
enum {
    PLACE_OF_MINOR = 100,
    PLACE_OF_INSTRUMENTER = 10
};

int cunei_refusal_reason_of_incompatibility(enum cunei_incompatibility found,
                                            enum cunei_instrumenter instrumenter,
                                            int minor)
{
    return CUNEI_REFUSAL_INCOMPATIBLE + minor * PLACE_OF_MINOR +
           (int)instrumenter * PLACE_OF_INSTRUMENTER + (int)found;
}

const char *cunei_refusal_reason_text(int reason)
{
    switch (reason) {
    case CUNEI_REFUSAL_UNKNOWN:
        return "the reason is unknown";
    case CUNEI_REFUSAL_MONITORING:
        return "other tools use all tool ids of sys.monitoring for general use (3, 4 "
               "and 5); stop one of them";
    case CUNEI_REFUSAL_REPLACED:
        return "another file or directory has the place of the trace directory";
    case CUNEI_REFUSAL_MOVED:
        return "its folder in the trace was moved, replaced or removed";
    case CUNEI_REFUSAL_PYDEVD:
        return "the debugger (pydevd) uses a frame evaluator of its own; set "
               "PYDEVD_USE_FRAME_EVAL=NO in the environment, so that it uses "
               "sys.settrace";
    case CUNEI_REFUSAL_TORCH:
        return "torch.compile uses a frame evaluator of its own; set "
               "TORCHDYNAMO_DISABLE=1 in the environment, or start recording before "
               "anything is compiled";
    case CUNEI_REFUSAL_ABOVE:
        return "another tool has installed a frame evaluator above cunei's, so cunei "
               "cannot start or stop recording C calls and lines";
    case CUNEI_REFUSAL_PROFILE:
        return "another tool has set a profile function (sys.setprofile), which cunei "
               "does not replace; stop that tool, or use another --instrumenter";
    case CUNEI_REFUSAL_TRACE:
        return "another tool has set a trace function (sys.settrace), which cunei does "
               "not replace; stop that tool, or use another --instrumenter";
    case CUNEI_REFUSAL_FORBIDDEN:
        return "Python refused to set cunei's hook; an audit hook may forbid that";
    case CUNEI_REFUSAL_BUDGET:
        return "a budget needs two tool ids of sys.monitoring for general use (3, 4 and "
               "5), and other tools have left only one; stop one of them, or record "
               "without --budget";
    case CUNEI_REFUSAL_NO_SITE:
        return "Python was started with -S, which disables site-packages, so that it "
               "could not load cunei";
    case CUNEI_REFUSAL_NO_VARIABLE:
        return "Python was started without CUNEI_RECORD in its environment";
    case CUNEI_REFUSAL_UNSEEN:
        return "cunei is not installed in the Python that was started, or that Python "
               "ended before its first line";
    case CUNEI_REFUSAL_RING:
        return "there is no room for the ring of --keep, of which each process has "
               "one; choose a smaller size";
    case CUNEI_REFUSAL_MEMORY:
        return "there is no folder of this user in /dev/shm, where --keep …,memory and "
               "traces on some file systems need one: it cannot be made, or another "
               "user has made it; record without ',memory', on a local disk";
    default:
        return reason < CUNEI_REFUSAL_INCOMPATIBLE
                   ? strerror(reason)
                   : "this Python cannot record what was requested";
    }
}

const char *cunei_write_failure_text(int error)
{
    switch (error) {
    case CUNEI_REFUSAL_MOVED:
        return cunei_refusal_reason_text(error);
    case EBUSY:
        return "a thread was stopped while it wrote to the ring, and its place there "
               "was needed; --keep with a larger size avoids that";
    default:
        return strerror(error);
    }
}

void cunei_refusal_reason_format(int reason, struct cunei_buffer *out)
{
    char subject[64];
    int rest = reason - CUNEI_REFUSAL_INCOMPATIBLE, minor = rest / PLACE_OF_MINOR;
    int found = rest % PLACE_OF_INSTRUMENTER;
    int instrumenter = rest / PLACE_OF_INSTRUMENTER % PLACE_OF_INSTRUMENTER;

    if (reason < CUNEI_REFUSAL_INCOMPATIBLE || found >= CUNEI_INCOMPATIBILITIES ||
        found == 0 || instrumenter >= CUNEI_INSTRUMENTERS || instrumenter == 0) {
        cunei_buffer_append_text(out, cunei_refusal_reason_text(reason));
        if (reason == CUNEI_REFUSAL_MONITORING)
            cunei_buffer_append_text(out, ", or use --instrumenter profile");
        return;
    }
    (void)snprintf(subject, sizeof(subject), "the Python that ran is CPython 3.%d",
                   minor);
    const struct cunei_incompatibility_context context = {.subject = subject};
    const struct cunei_request request = {.instrumenter =
                                              (enum cunei_instrumenter)instrumenter};
    cunei_incompatibility_format((enum cunei_incompatibility)found, &request, minor,
                                 &context, out);
}
