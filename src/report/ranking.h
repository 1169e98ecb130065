// SPDX-License-Identifier: MIT
/* The functions that the patterns let through, in the order of --sort. */
#ifndef CUNEI_REPORT_RANKING_H
#define CUNEI_REPORT_RANKING_H

#include <stdint.h>

struct cunei_report;

struct cunei_ranking {
    uint32_t *indices; /* owned */
    uint32_t count;
};

/* -ENOMEM. */
int cunei_ranking_init(struct cunei_ranking *ranking,
                       const struct cunei_report *report);
void cunei_ranking_fini(struct cunei_ranking *ranking);

#endif
