// SPDX-License-Identifier: MIT
#include "text/table.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/vector.h"
#include "text/terminal_text.h"

#define GAP 2u
/* The least that texts keep if the table is too wide without all optional columns. */
#define NARROWEST_TEXT 8u
/* A shorter rest of a tail is left out. */
#define NARROWEST_TAIL 10u
/* The least that the text after a lead keeps. */
#define NARROWEST_LED 16u
/* A longer file name does not remove other columns. */
#define WIDEST_NAME 24u

/* If nothing is shortened, a wider cell moves only the rest of its own row. */
#define WIDEST_PADDED 100u

struct cunei_cell {
    size_t begin, end; /* in `text` */
    size_t lead;       /* bytes at its start that are not shortened */
    size_t tail;       /* where the part begins that is cut first; 0: none */
    enum cunei_ink ink;
};

/* The width of each column; 0: it is left out. */
struct layout {
    bool is_whole; /* nothing is shortened: a text may be wider than its column */
    size_t widths[CUNEI_TABLE_COLUMNS_MAX];
    size_t least[CUNEI_TABLE_COLUMNS_MAX]; /* what texts keep; 0: numbers */
    size_t total;
};

void cunei_table_init(struct cunei_table *table, const struct cunei_column *columns,
                      size_t column_count)
{
    *table = (struct cunei_table){.columns = columns, .column_count = column_count};
}

void cunei_table_fini(struct cunei_table *table)
{
    cunei_buffer_fini(&table->text);
    free(table->cells);
    *table = (struct cunei_table){0};
}

/* Make the text from there on safe for a terminal, which may make it wider. */
static void make_safe(struct cunei_table *table, size_t begin)
{
    struct cunei_buffer shown = {0};

    if (table->text.size <= begin)
        return;
    cunei_terminal_text(&shown, table->text.data + begin, SIZE_MAX);
    table->text.size = begin;
    cunei_buffer_append(&table->text, cunei_buffer_text(&shown), shown.size);
    table->text.failed |= shown.failed;
    cunei_buffer_fini(&shown);
}

/* The text of the last cell is complete: end it with NUL. */
static void end_cell(struct cunei_table *table)
{
    if (table->cell_count == 0)
        return;
    struct cunei_cell *last = &table->cells[table->cell_count - 1];
    if (last->end != SIZE_MAX)
        return;
    make_safe(table, last->begin + last->tail);
    last->end = table->text.size;
    cunei_buffer_append(&table->text, "", 1);
}

struct cunei_buffer *cunei_table_cell(struct cunei_table *table, enum cunei_ink ink)
{
    end_cell(table);
    if (!CUNEI_VECTOR_RESERVE(table->cells, table->cell_capacity,
                              table->cell_count + 1)) {
        table->text.failed = true;
        return &table->text;
    }
    table->cells[table->cell_count++] =
        (struct cunei_cell){.begin = table->text.size, .end = SIZE_MAX, .ink = ink};
    return &table->text;
}

void cunei_table_lead(struct cunei_table *table)
{
    if (table->cell_count > 0) {
        struct cunei_cell *last = &table->cells[table->cell_count - 1];
        last->lead = table->text.size - last->begin;
    }
}

void cunei_table_tail(struct cunei_table *table)
{
    if (table->cell_count > 0) {
        struct cunei_cell *last = &table->cells[table->cell_count - 1];
        make_safe(table, last->begin);
        last->tail = table->text.size - last->begin;
    }
}

static const char *text_of(const struct cunei_table *table, size_t cell)
{
    return table->text.data + table->cells[cell].begin;
}

static void add_widths(struct layout *layout, size_t column_count)
{
    layout->total = 0;
    for (size_t i = 0; i < column_count; i++) {
        if (layout->widths[i] > 0)
            layout->total += layout->widths[i] + (layout->total > 0 ? GAP : 0);
    }
}

/* Shorten the texts, the widest first, down to `least` columns. */
static void shorten(const struct cunei_table *table, struct layout *layout,
                    size_t width, size_t least)
{
    while (layout->total > width) {
        size_t widest = SIZE_MAX;
        for (size_t i = 0; i < table->column_count; i++) {
            size_t min = layout->least[i];
            if (min > 0 && layout->widths[i] > (min < least ? min : least) &&
                (widest == SIZE_MAX || layout->widths[i] > layout->widths[widest]))
                widest = i;
        }
        if (widest == SIZE_MAX)
            return;
        layout->widths[widest]--;
        layout->total--;
    }
}

/* The least width without leaving a column out. */
static size_t narrowest(const struct cunei_table *table, const struct layout *layout)
{
    size_t total = layout->total;

    for (size_t i = 0; i < table->column_count; i++) {
        size_t min = layout->least[i];
        if (min > 0 && layout->widths[i] > min)
            total -= layout->widths[i] - min;
    }
    return total;
}

static void leave_out(const struct cunei_table *table, struct layout *layout,
                      size_t width)
{
    while (narrowest(table, layout) > width) {
        size_t least = SIZE_MAX;
        for (size_t i = 0; i < table->column_count; i++) {
            if (layout->widths[i] > 0 && table->columns[i].rank > 0 &&
                (least == SIZE_MAX ||
                 table->columns[i].rank > table->columns[least].rank))
                least = i;
        }
        if (least == SIZE_MAX)
            return;
        layout->widths[least] = 0;
        add_widths(layout, table->column_count);
    }
}

static void widen(size_t *width, size_t wanted, size_t limit)
{
    if (wanted > *width && wanted <= limit)
        *width = wanted;
}

static void measure_column(const struct cunei_table *table, size_t column,
                           struct layout *layout)
{
    layout->least[column] = table->columns[column].min;
    for (size_t i = column; i < table->cell_count; i += table->column_count) {
        const char *text = text_of(table, i);
        size_t width = cunei_terminal_width(text);
        bool is_overlong =
            layout->is_whole && layout->least[column] > 0 && width > WIDEST_PADDED;
        widen(&layout->widths[column], is_overlong ? 1 : width, SIZE_MAX);
        if (table->columns[column].is_path)
            widen(&layout->least[column], cunei_terminal_path_least(text), WIDEST_NAME);
    }
}

static struct layout lay_out(const struct cunei_table *table, size_t width)
{
    struct layout layout = {.is_whole = width == 0};

    for (size_t i = 0; i < table->column_count; i++) {
        measure_column(table, i, &layout);
        size_t head = cunei_terminal_width(table->columns[i].head);
        if (layout.widths[i] > 0 && layout.widths[i] < head)
            layout.widths[i] = head;
    }
    add_widths(&layout, table->column_count);
    if (width > 0) {
        leave_out(table, &layout, width);
        shorten(table, &layout, width, SIZE_MAX);
        shorten(table, &layout, width, NARROWEST_TEXT);
    }
    return layout;
}

static bool is_last(const struct layout *layout, size_t column, size_t column_count)
{
    for (size_t i = column + 1; i < column_count; i++) {
        if (layout->widths[i] > 0)
            return false;
    }
    return true;
}

static void pad(struct cunei_buffer *line, size_t count)
{
    cunei_buffer_format(line, "%*s", (int)count, "");
}

/* A name and its tail in `width` columns: the end of the tail goes first. */
static void format_tailed(struct cunei_buffer *out, const char *text, size_t name_size,
                          size_t width)
{
    const char *tail = text + name_size;
    struct cunei_buffer name = {0};

    cunei_buffer_append(&name, text, name_size);
    size_t taken = cunei_terminal_width(cunei_buffer_text(&name));
    size_t room = width > taken ? width - taken : 0;
    if (taken + cunei_terminal_width(tail) <= width) {
        cunei_buffer_append_text(out, text);
    } else if (room < NARROWEST_TAIL) {
        cunei_terminal_text(out, cunei_buffer_text(&name), width);
    } else {
        cunei_buffer_append(out, text, name_size + cunei_terminal_head(tail, room - 1));
        cunei_buffer_append_text(out, "…");
    }
    out->failed |= name.failed;
    cunei_buffer_fini(&name);
}

/* Lead and text in `width` columns; a lead that leaves no room loses its start. */
static void format_led(struct cunei_buffer *out, const char *text,
                       const struct cunei_cell *cell, size_t width)
{
    size_t lead = cell->lead;
    struct cunei_buffer head = {0};

    cunei_buffer_append(&head, text, lead);
    size_t led = cunei_terminal_width(text + lead);
    size_t least = led < NARROWEST_LED ? led : NARROWEST_LED;
    size_t taken = head.data ? cunei_terminal_width(head.data) : 0;
    if (least < width && taken + least > width) {
        cunei_buffer_append_text(out, "…");
        cunei_buffer_append_text(out,
                                 cunei_terminal_tail(head.data, width - least - 1));
        taken = width - least;
    } else
        cunei_buffer_append_text(out, cunei_buffer_text(&head));
    size_t room = width > taken ? width - taken : 0;
    if (cell->tail > lead)
        format_tailed(out, text + lead, cell->tail - lead, room);
    else
        cunei_terminal_text(out, text + lead, room);
    out->failed |= head.failed;
    cunei_buffer_fini(&head);
}

static void put_cell(const struct cunei_table *table, const struct layout *layout,
                     size_t column, const char *text, const struct cunei_cell *cell,
                     const struct cunei_style *style, struct cunei_buffer *line)
{
    struct cunei_buffer shown = {0};
    size_t width = layout->widths[column];
    size_t room = layout->is_whole ? SIZE_MAX : width;
    bool is_text = table->columns[column].min > 0;

    if (cell->lead > 0 || cell->tail > 0)
        format_led(&shown, text, cell, room);
    else if (table->columns[column].is_path)
        cunei_terminal_path(&shown, text, room);
    else
        cunei_terminal_text(&shown, text, room);
    size_t used = shown.data ? cunei_terminal_width(shown.data) : 0;
    size_t missing = width > used ? width - used : 0;
    if (!is_text)
        pad(line, missing);
    if (used > 0)
        cunei_style_put(style, line, cell->ink, shown.data);
    if (is_text && !is_last(layout, column, table->column_count))
        pad(line, missing);
    line->failed |= shown.failed;
    cunei_buffer_fini(&shown);
}

static void put_row(const struct cunei_table *table, const struct layout *layout,
                    size_t first_cell, const struct cunei_style *style,
                    struct cunei_buffer *line)
{
    static const struct cunei_cell head = {.ink = CUNEI_INK_DIM};
    bool begun = false;

    for (size_t i = 0; i < table->column_count; i++) {
        bool is_head = first_cell == SIZE_MAX;
        if (layout->widths[i] == 0)
            continue;
        if (begun)
            pad(line, GAP);
        begun = true;
        put_cell(table, layout, i,
                 is_head ? table->columns[i].head : text_of(table, first_cell + i),
                 is_head ? &head : &table->cells[first_cell + i], style, line);
    }
    while (line->size > 0 && line->data[line->size - 1] == ' ')
        line->data[--line->size] = '\0';
    cunei_buffer_append(line, "\n", 1);
}

bool cunei_table_is_empty(const struct cunei_table *table)
{
    return table->cell_count == 0 && !table->text.failed;
}

int cunei_table_print(struct cunei_table *table, const struct cunei_style *style,
                      FILE *out)
{
    struct cunei_buffer line = {0};

    end_cell(table);
    if (table->text.failed)
        return -ENOMEM;
    struct layout layout = lay_out(table, style->width);
    put_row(table, &layout, SIZE_MAX, style, &line);
    for (size_t i = 0; i + table->column_count <= table->cell_count;
         i += table->column_count) {
        (void)fwrite(line.data, 1, line.size, out);
        cunei_buffer_clear(&line);
        put_row(table, &layout, i, style, &line);
    }
    (void)fwrite(line.data, 1, line.size, out);
    bool failed = line.failed;
    cunei_buffer_fini(&line);
    return failed ? -ENOMEM : 0;
}
