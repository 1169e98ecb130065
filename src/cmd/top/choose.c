// SPDX-License-Identifier: MIT
#include "cmd/top/choose.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/text.h"
#include "base/vector.h"
#include "cmd/attach/running_pythons.h"
#include "cmd/common/message.h"
#include "cmd/common/recording_target.h"
#include "cmd/top/targets.h"
#include "text/names.h"
#include "top/draw/draw_table.h"
#include "top/draw/grid.h"
#include "top/terminal/terminal.h"
#include "top/view/view.h"
#include "trace/directory/open_options.h"
#include "trace/directory/process_folder.h"
#include "trace/directory/trace.h"
#include "trace/live/recordings.h"

#define LOOK_MS   1000
#define HEAD_ROWS 2

/* A process that is being recorded, or can be attached; texts are safe to print. */
struct row {
    char *pid, *program, *python;
    char *folder; /* of a recording; or what top would do */
    bool must_attach;
};

struct rows {
    struct row *items; /* owned */
    size_t count;
};

static void clear(struct rows *rows)
{
    for (size_t i = 0; rows->items && i < rows->count; i++) {
        free(rows->items[i].pid);
        free(rows->items[i].program);
        free(rows->items[i].python);
        free(rows->items[i].folder);
    }
    free(rows->items);
    *rows = (struct rows){0};
}

/* The buffer's text, safe to print, owned by the caller; the buffer is released. */
static char *take_safe(struct cunei_buffer *text)
{
    struct cunei_buffer safe = {0};

    cunei_text_show(&safe, cunei_buffer_text(text), text->size);
    char *copy = strdup(cunei_buffer_text(&safe));
    cunei_buffer_fini(text);
    cunei_buffer_fini(&safe);
    return copy;
}

static void add(struct rows *rows, const struct cunei_trace_process *process)
{
    struct cunei_buffer pid = {0}, program = {0}, python = {0};
    const char *version = process->description.python;

    if (!CUNEI_VECTOR_RESERVE_ONE(rows->items, rows->count))
        return;
    cunei_buffer_format(&pid, "%u", process->metadata.pid);
    cunei_format_process(&program, &process->description);
    cunei_buffer_append_text(&python, version ? version : "");
    rows->items[rows->count++] = (struct row){.pid = take_safe(&pid),
                                              .program = take_safe(&program),
                                              .python = take_safe(&python),
                                              .folder = strdup(process->path)};
}

static void add_python(struct rows *rows, const struct cunei_running_python *python)
{
    struct cunei_buffer pid = {0}, program = {0}, version = {0};

    if (python->state == CUNEI_PYTHON_CLOSED ||
        !CUNEI_VECTOR_RESERVE_ONE(rows->items, rows->count))
        return;
    cunei_buffer_format(&pid, "%d", (int)python->pid);
    cunei_buffer_append_text(&program, cunei_buffer_text(&python->program));
    cunei_buffer_format(&version, "CPython %s", python->version);
    rows->items[rows->count++] =
        (struct row){.pid = take_safe(&pid),
                     .program = take_safe(&program),
                     .python = take_safe(&version),
                     .folder = strdup(cunei_python_state_name(python->state)),
                     .must_attach = true};
}

/* What can be recorded comes below what is. */
static void find_pythons(struct rows *rows)
{
    struct cunei_running_pythons pythons;

    if (cunei_running_pythons_read(&pythons) < 0)
        return;
    for (size_t i = 0; i < pythons.count; i++)
        add_python(rows, &pythons.items[i]);
    cunei_running_pythons_fini(&pythons);
}

static void find(struct rows *rows)
{
    const struct cunei_trace_open_options opening = {.without_ring = true};
    struct cunei_recordings recordings = {0};

    clear(rows);
    cunei_recording_target_find_all(&recordings);
    for (size_t i = 0; i < recordings.count; i++) {
        struct cunei_trace_process process;
        struct cunei_trace_error error;
        if (cunei_process_folder_open(&process, recordings.items[i].folder, &opening,
                                      &error) < 0)
            continue;
        if (process.state == CUNEI_TRACE_RUNNING)
            add(rows, &process);
        cunei_process_folder_close(&process);
    }
    cunei_recordings_fini(&recordings);
}

static void put(const void *context, uint32_t row, size_t column,
                struct cunei_buffer *text, enum cunei_top_ink *ink)
{
    const struct rows *rows = context;
    const struct row *item = &rows->items[row];
    const char *texts[] = {item->pid, item->program, item->python, item->folder};

    *ink = column == 1 ? CUNEI_TOP_INK_STRONG : CUNEI_TOP_INK_PLAIN;
    cunei_buffer_append_text(text, texts[column] ? texts[column] : "");
}

/* The first process on the screen. */
static uint32_t first_row(uint32_t selected)
{
    int rows, columns;

    cunei_top_terminal_size(&rows, &columns);
    uint32_t shown = rows > HEAD_ROWS + 3 ? (uint32_t)rows - HEAD_ROWS - 2 : 1;
    return selected >= shown ? selected - shown + 1 : 0;
}

static int draw(const struct rows *rows, struct cunei_grid *grid, uint32_t selected)
{
    struct cunei_top_table table = {
        .columns = {{.head = "pid", .width = 6},
                    {.head = "program", .width = 16, .is_text = true},
                    {.head = "python", .rank = 1, .width = 14, .is_text = true},
                    {.head = "recorded into",
                     .rank = 2,
                     .width = 16,
                     .is_text = true,
                     .is_path = true}},
        .column_count = 4,
        .sorted = -1,
        .row_count = (uint32_t)rows->count,
        .selected = selected,
        .put = put,
        .context = rows,
    };

    cunei_top_terminal_size(&grid->row_count, &grid->column_count);
    int rc = cunei_grid_resize(grid, grid->row_count, grid->column_count,
                               cunei_top_terminal_is_ascii());
    if (rc < 0)
        return rc;
    int room = grid->row_count - HEAD_ROWS - 1;
    table.first = first_row(selected);
    cunei_grid_fill(grid, 0, CUNEI_TOP_INK_TITLE);
    (void)cunei_grid_put(
        grid, 0, 1, grid->column_count, CUNEI_TOP_INK_TITLE,
        "cunei top  What do you want to watch? Enter chooses, q quits");
    if (rows->count > 0)
        return cunei_top_table_draw(&table, grid, HEAD_ROWS, room);
    (void)cunei_grid_put(grid, HEAD_ROWS, 1, grid->column_count, CUNEI_TOP_INK_PLAIN,
                         "No Python of yours is running. 'cunei top app.py' runs a "
                         "program and shows it.");
    return 0;
}

/* True: the list is done with, by Enter or by leaving it. */
static bool press(const struct rows *rows, uint32_t key, uint32_t *selected,
                  bool *has_left)
{
    if ((key == CUNEI_TOP_KEY_UP || key == 'k') && *selected > 0)
        (*selected)--;
    else if ((key == CUNEI_TOP_KEY_DOWN || key == 'j') && *selected + 1 < rows->count)
        (*selected)++;
    else if (key == 'q' || key == CUNEI_TOP_KEY_ESCAPE || key == CUNEI_TOP_KEY_F10)
        *has_left = true;
    else if (key == CUNEI_TOP_KEY_ENTER || key == '\r')
        return rows->count > 0;
    return *has_left;
}

/* A second click chooses, as in the screens of top. */
static bool click(const struct rows *rows, int row, uint32_t *selected)
{
    uint32_t clicked = first_row(*selected) + (uint32_t)(row - HEAD_ROWS - 1);

    if (row <= HEAD_ROWS || clicked >= rows->count)
        return false;
    bool is_again = clicked == *selected;
    *selected = clicked;
    return is_again;
}

static bool take_input(const struct rows *rows, uint32_t *selected, bool *has_left)
{
    struct cunei_top_input input;

    *has_left = cunei_top_terminal_signal() != 0;
    while (!*has_left && cunei_top_terminal_next(&input)) {
        if (input.kind == CUNEI_TOP_INPUT_KEY &&
            press(rows, input.key, selected, has_left))
            return true;
        if (input.kind == CUNEI_TOP_INPUT_CLICK && click(rows, input.row, selected))
            return true;
    }
    return *has_left;
}

static void wait_for_input(void)
{
    struct pollfd fds[2] = {{.events = POLLIN}, {.events = POLLIN}};

    cunei_top_terminal_fds(&fds[0].fd, &fds[1].fd);
    (void)poll(fds, 2, LOOK_MS);
}

/* The selection stays on its process. */
static void find_again(struct rows *rows, uint32_t *selected)
{
    char *pid = *selected < rows->count && rows->items[*selected].pid
                    ? strdup(rows->items[*selected].pid)
                    : NULL;

    find(rows);
    find_pythons(rows);
    for (uint32_t i = 0; pid && i < rows->count; i++) {
        if (rows->items[i].pid && strcmp(rows->items[i].pid, pid) == 0)
            *selected = i;
    }
    if (*selected >= rows->count)
        *selected = rows->count > 0 ? (uint32_t)rows->count - 1 : 0;
    free(pid);
}

static int show(struct rows *rows, uint32_t *selected, bool *has_left)
{
    struct cunei_grid grid = {0};
    int rc = 0;

    do {
        find_again(rows, selected);
        rc = draw(rows, &grid, *selected);
        if (rc < 0)
            break;
        cunei_top_terminal_show(&grid);
        wait_for_input();
    } while (!take_input(rows, selected, has_left));
    cunei_grid_fini(&grid);
    return rc;
}

static int choose_on_screen(struct rows *rows, bool is_ascii, uint32_t *selected,
                            bool *has_left)
{
    struct cunei_buffer reason = {0};

    if (!cunei_top_terminal_open(is_ascii, &reason)) {
        int status = cunei_cmd_fail(0, "%s", cunei_buffer_text(&reason));
        cunei_buffer_fini(&reason);
        return status;
    }
    int rc = show(rows, selected, has_left);
    cunei_top_terminal_close();
    return rc < 0 ? cunei_cmd_fail(rc, "cannot show what is being recorded") : 0;
}

static int choose_only(struct rows *rows)
{
    find(rows);
    if (rows->count == 0)
        return cunei_cmd_fail(0, "nothing is being recorded; 'cunei top app.py' runs a "
                                 "program and shows it");
    if (rows->count > 1)
        return cunei_cmd_fail(0,
                              "%zu processes are being recorded: choose one by its "
                              "pid, which 'cunei list' shows",
                              rows->count);
    return 0;
}

int cunei_top_choose(struct cunei_top_targets *targets, bool has_screen, bool is_ascii,
                     bool *has_left, char **to_attach)
{
    struct rows rows = {0};
    uint32_t selected = 0;

    *has_left = false;
    int status = has_screen ? choose_on_screen(&rows, is_ascii, &selected, has_left)
                            : choose_only(&rows);
    struct row *chosen = status == 0 && !*has_left && selected < rows.count
                             ? &rows.items[selected]
                             : NULL;
    if (chosen && chosen->must_attach) {
        *to_attach = chosen->pid; /* moved */
        chosen->pid = NULL;
    } else if (chosen && cunei_top_targets_add(targets, chosen->folder, NULL) < 0)
        status = cunei_cmd_fail(-ENOMEM, "cannot watch it");
    clear(&rows);
    return status;
}
