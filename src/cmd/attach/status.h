// SPDX-License-Identifier: MIT
/* Asking an armed process what it records, and printing that. */
#ifndef CUNEI_CMD_ATTACH_STATUS_H
#define CUNEI_CMD_ATTACH_STATUS_H

#include <stdbool.h>
#include <stdint.h>

struct cunei_connection;
struct cunei_control_answer;
struct cunei_process_facts;

/* Both return 0, or the exit status after an error message. */
int cunei_attach_ask_status(struct cunei_connection *connection,
                            const struct cunei_process_facts *process,
                            uint64_t timeout_ns, struct cunei_control_answer *answer);
int cunei_attach_print_status(struct cunei_connection *connection,
                              const struct cunei_process_facts *process,
                              uint64_t timeout_ns, bool json);

#endif
