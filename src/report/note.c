// SPDX-License-Identifier: MIT
#include "report/note.h"

#include <ctype.h>
#include <string.h>

#include "report/section.h"
#include "text/format.h"

void cunei_note_begin(struct cunei_paragraph *note, const struct cunei_report *report,
                      const char *label, enum cunei_ink ink)
{
    *note = (struct cunei_paragraph){
        .style = &report->options->style,
        .column = CUNEI_NOTE_INDENT,
        .indent = CUNEI_NOTE_INDENT,
    };
    cunei_style_begin(note->style, &note->text, ink);
    cunei_buffer_format(&note->text, "%-*s", CUNEI_NOTE_INDENT, label);
    cunei_style_end(note->style, &note->text, ink);
}

void cunei_note_words(struct cunei_paragraph *note, const char *before,
                      struct cunei_buffer *words)
{
    cunei_paragraph_put(note, before, CUNEI_INK_PLAIN, cunei_buffer_text(words));
    note->text.failed |= words->failed;
    cunei_buffer_clear(words);
}

/* The next space where a line may break: not between the digits of a number. */
static char *find_break(char *text)
{
    char *space = strchr(text, ' ');

    while (space && space > text && isdigit((unsigned char)space[-1]) &&
           isdigit((unsigned char)space[1]))
        space = strchr(space + 1, ' ');
    return space;
}

void cunei_note_sentence(struct cunei_paragraph *note, struct cunei_buffer *sentence)
{
    char *word = sentence->data;
    bool is_first = true;

    while (word && *word) {
        char *space = find_break(word);
        if (space)
            *space = '\0';
        cunei_paragraph_put(note, is_first ? "" : " ", CUNEI_INK_PLAIN, word);
        is_first = false;
        word = space ? space + 1 : NULL;
    }
    note->text.failed |= sentence->failed;
    cunei_buffer_clear(sentence);
}

int cunei_note_print(const struct cunei_report *report, const char *label,
                     enum cunei_ink ink, struct cunei_buffer *sentence)
{
    struct cunei_paragraph note;

    cunei_note_begin(&note, report, label, ink);
    cunei_note_sentence(&note, sentence);
    cunei_buffer_fini(sentence);
    return cunei_paragraph_print(&note, report->out);
}

int cunei_note_waiting(const struct cunei_report *report)
{
    struct cunei_buffer words = {0};

    if (report->options->idle || report->waiting.waiting_ns == 0)
        return 0;
    cunei_format_duration(&words, report->waiting.waiting_ns);
    cunei_buffer_append_text(&words, " in ");
    cunei_format_several(&words, report->waiting.function_count, "function");
    cunei_buffer_append_text(&words, " (--idle shows them)");
    return cunei_note_print(report, "waiting", CUNEI_INK_DIM, &words);
}
