// SPDX-License-Identifier: MIT
/* `cunei attach PID --set …`: changes to a recording that is on. */
#ifndef CUNEI_CMD_ATTACH_CHANGE_H
#define CUNEI_CMD_ATTACH_CHANGE_H

struct cunei_attach_session;
struct cunei_option_list;

/* Returns 0, or the exit status after an error message. */
int cunei_attach_change(struct cunei_attach_session *session,
                        const struct cunei_option_list *changes);

#endif
