// SPDX-License-Identifier: MIT
/* `cunei doctor PID`: whether and how a running process can be attached. */
#ifndef CUNEI_CMD_DOCTOR_PROCESS_H
#define CUNEI_CMD_DOCTOR_PROCESS_H

#include <stdbool.h>

/* Looks at the process and changes nothing in it.  Returns the exit status. */
int cunei_doctor_process(const char *word, bool as_json);

#endif
