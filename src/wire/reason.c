// SPDX-License-Identifier: MIT
#include "wire/reason.h"

#include <string.h>

const char *cunei_reason_text(int reason)
{
    switch (reason) {
    case CUNEI_REASON_UNKNOWN:
        return "for another reason";
    case CUNEI_REASON_MONITORING:
        return "other tools have all ids of sys.monitoring";
    case CUNEI_REASON_PYDEVD:
        return "the debugger (pydevd) evaluates frames itself; set "
               "PYDEVD_USE_FRAME_EVAL=NO in the environment, and it debugs by tracing, "
               "beside which cunei records";
    case CUNEI_REASON_TORCH:
        return "torch.compile (torch.dynamo) evaluates frames itself; set "
               "TORCHDYNAMO_DISABLE=1 in the environment, or start recording before "
               "anything is compiled";
    case CUNEI_REASON_ABOVE:
        return "another tool has installed an evaluator of frames above cunei's, so "
               "that C calls and lines cannot be switched on or off";
    case CUNEI_REASON_PROFILE:
        return "another tool has set a profile function (sys.setprofile), which cunei "
               "does not replace; stop that tool first, or choose another instrumenter";
    case CUNEI_REASON_TRACE:
        return "another tool has set a trace function (sys.settrace), which cunei does "
               "not replace; stop that tool first, or choose another instrumenter";
    case CUNEI_REASON_LACKING:
        return "the Python does not have that --instrumenter, or not together with "
               "--c-calls or --lines";
    default:
        return strerror(reason);
    }
}
