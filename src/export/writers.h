// SPDX-License-Identifier: MIT
/* The writers of the formats, a file or folder each; formats.c lists them. */
#ifndef CUNEI_EXPORT_WRITERS_H
#define CUNEI_EXPORT_WRITERS_H

struct cunei_export;

int cunei_export_callgrind(struct cunei_export *export);
int cunei_export_chrome(struct cunei_export *export);
int cunei_export_ctf(struct cunei_export *export);
int cunei_export_csv(struct cunei_export *export);
int cunei_export_folded(struct cunei_export *export);
int cunei_export_html(struct cunei_export *export);
int cunei_export_otf2(struct cunei_export *export);
const char *cunei_export_otf2_absent(void);
int cunei_export_perfetto(struct cunei_export *export);
int cunei_export_pprof(struct cunei_export *export);
int cunei_export_pstats(struct cunei_export *export);
int cunei_export_speedscope(struct cunei_export *export);

#endif
