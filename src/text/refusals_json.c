// SPDX-License-Identifier: MIT
#include "text/refusals_json.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/buffer.h"
#include "python/refusal_reason.h"
#include "python/refusals.h"
#include "text/json.h"

static void put_refusal(const struct cunei_refusal *refusal, struct cunei_json *json)
{
    struct cunei_buffer reason = {0};
    char pid[24];

    (void)snprintf(pid, sizeof(pid), "%" PRId64, refusal->pid);
    cunei_refusal_reason_format(refusal->reason, &reason);
    json->failed |= reason.failed;
    cunei_json_open(json, NULL, '{');
    cunei_json_raw(json, "pid", pid);
    cunei_json_text(json, "reason", cunei_buffer_text(&reason));
    cunei_json_close(json, '}');
    cunei_buffer_fini(&reason);
}

void cunei_refusals_put_json(const struct cunei_refusals *refusals,
                             struct cunei_json *json)
{
    cunei_json_open(json, "unrecorded", '[');
    for (size_t i = 0; i < refusals->count; i++)
        put_refusal(&refusals->items[i], json);
    cunei_json_close(json, ']');
}
