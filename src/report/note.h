// SPDX-License-Identifier: MIT
/* A note below a report: what it is about, then words that may take several lines. */
#ifndef CUNEI_REPORT_NOTE_H
#define CUNEI_REPORT_NOTE_H

#include "text/paragraph.h"

struct cunei_report;

/* Of what a note is about. */
#define CUNEI_NOTE_INDENT 11

void cunei_note_begin(struct cunei_paragraph *note, const struct cunei_report *report,
                      const char *label, enum cunei_ink ink);

/* Words that stay together, behind what separates them from those before; they are
 * taken out of the buffer. */
void cunei_note_words(struct cunei_paragraph *note, const char *before,
                      struct cunei_buffer *words);

/* A sentence, which may be broken at its spaces; the same. */
void cunei_note_sentence(struct cunei_paragraph *note, struct cunei_buffer *sentence);

/* A note of one sentence, whose buffer is released. */
int cunei_note_print(const struct cunei_report *report, const char *label,
                     enum cunei_ink ink, struct cunei_buffer *sentence);

#endif
