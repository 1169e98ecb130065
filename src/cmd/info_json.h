// SPDX-License-Identifier: MIT
/* What `cunei info --json` prints of a process. */
#ifndef CUNEI_CMD_INFO_JSON_H
#define CUNEI_CMD_INFO_JSON_H

struct cunei_info_count;
struct cunei_json;
struct cunei_trace_process;

/* Put an object in an array. */
void cunei_info_json_put(struct cunei_json *json,
                         const struct cunei_trace_process *process,
                         const struct cunei_info_count *inventory);

#endif
