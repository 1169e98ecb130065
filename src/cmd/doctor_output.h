// SPDX-License-Identifier: MIT
/* The findings of `cunei doctor`, printed as rows or as one JSON object. */
#ifndef CUNEI_CMD_DOCTOR_OUTPUT_H
#define CUNEI_CMD_DOCTOR_OUTPUT_H

#include <stdbool.h>

#include "cmd/doctor_checks.h"

struct cunei_json;

struct cunei_doctor_output {
    struct cunei_json *json;           /* borrowed; NULL: rows */
    const struct cunei_doctor *doctor; /* borrowed: of a Python; NULL: of a process */
    bool is_bad;                       /* one of the findings was */
};

void cunei_doctor_output_begin(struct cunei_doctor_output *output);

/* Print a finding, and end it. */
void cunei_doctor_output_add(struct cunei_doctor_output *output, const char *name,
                             struct cunei_finding *finding);

/* `verdict`: the name of the member that says whether nothing was bad.  Returns the
 * exit status. */
int cunei_doctor_output_end(struct cunei_doctor_output *output, const char *verdict);

#endif
