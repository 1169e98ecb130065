// SPDX-License-Identifier: MIT
/* What `cunei info` prints of the triggers that made a snapshot. */
#ifndef CUNEI_CMD_INFO_CAUSES_H
#define CUNEI_CMD_INFO_CAUSES_H

struct cunei_buffer;
struct cunei_json;
struct cunei_process;

/* A row for each. */
void cunei_info_causes_put(struct cunei_buffer *out,
                           const struct cunei_process *description);

/* The member `causes`. */
void cunei_info_causes_put_json(struct cunei_json *json,
                                const struct cunei_process *description);

#endif
