// SPDX-License-Identifier: MIT
/* A note below a report: a label, then text that may take several lines. */
#ifndef CUNEI_REPORT_NOTE_H
#define CUNEI_REPORT_NOTE_H

#include "text/paragraph.h"

struct cunei_report;

/* The columns of the label. */
#define CUNEI_NOTE_INDENT 11

void cunei_note_begin(struct cunei_paragraph *note, const struct cunei_report *report,
                      const char *label, enum cunei_ink ink);

/* Words that stay on one line, after the separator `before`; clears the buffer. */
void cunei_note_words(struct cunei_paragraph *note, const char *before,
                      struct cunei_buffer *words);

/* A sentence, which may break at its spaces; clears the buffer. */
void cunei_note_sentence(struct cunei_paragraph *note, struct cunei_buffer *sentence);

/* Print a note of one sentence, and release its buffer. */
int cunei_note_print(const struct cunei_report *report, const char *label,
                     enum cunei_ink ink, struct cunei_buffer *sentence);

/* Print what functions that are not shown waited. */
int cunei_note_waiting(const struct cunei_report *report);

#endif
