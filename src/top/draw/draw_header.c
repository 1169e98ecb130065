// SPDX-License-Identifier: MIT
/* The first rows: what is watched, and how it is doing. */
#include <string.h>

#include "base/buffer.h"
#include "base/units.h"
#include "text/format.h"
#include "text/terminal_text.h"
#include "top/draw/draw_parts.h"
#include "top/view/columns.h"

#define SPARK_MIN   8
#define SPARK_MAX   60
#define SECONDS_MIN 0.05 /* of which a share of CPU time says something */

/* A row that is filled from the left. */
struct line {
    struct cunei_grid *grid;
    int row, column;
};

static void put(struct line *line, enum cunei_top_ink ink, const char *text)
{
    line->column += cunei_grid_put(line->grid, line->row, line->column,
                                   line->grid->column_count - line->column, ink, text);
}

/* Whether label and value fit into the line: what does not fit is not drawn at all. */
static bool has_room(const struct line *line, const char *label,
                     const struct cunei_buffer *value)
{
    size_t wanted = cunei_terminal_width(label) +
                    cunei_terminal_width(cunei_buffer_text(value)) + 4;

    return line->column + (int)wanted <= line->grid->column_count;
}

/* "label value", two spaces behind what is there. */
static void put_figure(struct line *line, const char *label, enum cunei_top_ink ink,
                       struct cunei_buffer *value)
{
    if (has_room(line, label, value)) {
        put(line, CUNEI_TOP_INK_PLAIN, line->column > 1 ? "   " : "");
        put(line, CUNEI_TOP_INK_DIM, label);
        put(line, CUNEI_TOP_INK_PLAIN, " ");
        put(line, ink, cunei_buffer_text(value));
    }
    cunei_buffer_clear(value);
}

static const struct cunei_top_process *first_process(const struct cunei_top_sums *sums)
{
    for (uint32_t i = 0; i < sums->process_count; i++) {
        if (sums->processes[i].is_seen)
            return &sums->processes[i];
    }
    return NULL;
}

static void format_title(const struct cunei_top_model *model, struct cunei_buffer *text)
{
    const struct cunei_top_process *first = first_process(&model->now);
    uint32_t count = model->now.process_count;

    cunei_buffer_append_text(text, model->title ? model->title
                                   : first      ? first->command
                                                : "");
    if (!first)
        return;
    cunei_buffer_format(text, " · pid %u", first->pid);
    if (count > 1) {
        cunei_buffer_append_text(text, " and ");
        cunei_format_count(text, count - 1);
        cunei_buffer_append_text(text, " more");
    }
    if (first->python[0])
        cunei_buffer_format(text, " · %s", first->python);
}

static void format_time(const struct cunei_top_model *model, struct cunei_buffer *text)
{
    const struct cunei_top_rates *whole = &model->whole;

    cunei_buffer_append_text(text, model->has_ended ? "ended after " : "running ");
    cunei_format_duration(text, (uint64_t)(whole->seconds * (double)CUNEI_NS_PER_S));
}

static void format_state(const struct cunei_top_model *model, struct cunei_buffer *text)
{
    const struct cunei_top_view *view = &model->view;

    if (view->is_frozen)
        cunei_buffer_append_text(text, "ORDER FROZEN · ");
    if (view->is_paused)
        cunei_buffer_append_text(text, "PAUSED · ");
    if (view->is_whole || !model->has_ended)
        cunei_buffer_append_text(text,
                                 view->is_whole ? "since the start · " : "now · ");
    if (model->state[0])
        cunei_buffer_append_text(text, model->state);
    else if (model->has_now)
        format_time(model, text);
    else
        cunei_buffer_append_text(text, "waiting for the first event");
    cunei_buffer_append_text(text, " ");
}

static void draw_title(const struct cunei_top_model *model, struct cunei_grid *grid)
{
    struct cunei_buffer text = {0}, state = {0}, fitted = {0};
    const char *head = " cunei top  ";

    cunei_grid_fill(grid, 0, CUNEI_TOP_INK_TITLE);
    format_title(model, &text);
    format_state(model, &state);
    int begin = (int)strlen(head);
    int left = grid->column_count - begin - 2 -
               (int)cunei_terminal_width(cunei_buffer_text(&state));
    cunei_terminal_text(&fitted, cunei_buffer_text(&text), left > 0 ? (size_t)left : 0);
    (void)cunei_grid_put(grid, 0, 0, begin, CUNEI_TOP_INK_TITLE, head);
    (void)cunei_grid_put(grid, 0, begin, left, CUNEI_TOP_INK_TITLE,
                         cunei_buffer_text(&fitted));
    cunei_grid_put_right(grid, 0, begin, grid->column_count - begin,
                         CUNEI_TOP_INK_TITLE, cunei_buffer_text(&state));
    cunei_buffer_fini(&text);
    cunei_buffer_fini(&state);
    cunei_buffer_fini(&fitted);
}

static void format_rate(const struct cunei_top_rates *rates, uint64_t count,
                        struct cunei_buffer *text)
{
    cunei_top_format_rate(text, cunei_top_rates_per_second(rates, count));
}

static void put_cpu(struct line *line, const struct cunei_top_rates *rates,
                    struct cunei_buffer *text)
{
    /* What ran shorter took most of its CPU time before the first event. */
    if (rates->cpu_ns == 0 || rates->seconds < SECONDS_MIN)
        return;
    cunei_buffer_format(text, "%.0f %%",
                        100 * (double)rates->cpu_ns / 1e9 / rates->seconds);
    put_figure(line, "CPU", CUNEI_TOP_INK_STRONG, text);
}

static void put_cost(struct line *line, const struct cunei_top_rates *rates,
                     struct cunei_buffer *text)
{
    if (rates->cost_ns <= 0)
        return;
    cunei_buffer_format(text, "≈%.1f %%", 100 * rates->cost_ns / (double)rates->cpu_ns);
    put_figure(line, "recording costs", CUNEI_TOP_INK_STRONG, text);
}

/* The newest seconds at the right, as high as the highest of those that are shown. */
static void draw_spark(const struct cunei_top_history *history, struct line *line)
{
    int width = line->grid->column_count - line->column - 4;
    float most = 0;

    if (width > SPARK_MAX)
        width = SPARK_MAX;
    if (width > (int)history->point_count)
        width = (int)history->point_count;
    /* One bar would always be the highest. */
    if (width < (history->point_count < SPARK_MIN ? 2 : SPARK_MIN))
        return;
    for (int i = 0; i < width; i++) {
        float events = history->events[cunei_top_history_slot(history, (uint32_t)i)];
        most = events > most ? events : most;
    }
    put(line, CUNEI_TOP_INK_PLAIN, "   ");
    for (int i = width; i-- > 0;) {
        float events = history->events[cunei_top_history_slot(history, (uint32_t)i)];
        put(line, CUNEI_TOP_INK_GRAPH,
            cunei_top_block(most > 0 ? (double)(events / most) : 0));
    }
}

static void draw_figures(const struct cunei_top_model *model, struct cunei_grid *grid)
{
    const struct cunei_top_rates *rates = cunei_top_model_rates(model);
    struct line line = {grid, 1, 1};
    struct cunei_buffer text = {0};
    uint64_t lost = model->now.whole.lost;

    put_cpu(&line, rates, &text);
    format_rate(rates, rates->calls, &text);
    put_figure(&line, "calls/s", CUNEI_TOP_INK_STRONG, &text);
    put_cost(&line, rates, &text);
    cunei_format_count(&text, lost);
    put_figure(&line, "lost", lost ? CUNEI_TOP_INK_BAD : CUNEI_TOP_INK_PLAIN, &text);
    if (model->now.missed > 0) {
        cunei_format_count(&text, model->now.missed);
        put_figure(&line, "missed by top", CUNEI_TOP_INK_BAD, &text);
    }
    format_rate(rates, rates->events, &text);
    put_figure(&line, "events/s", CUNEI_TOP_INK_STRONG, &text);
    draw_spark(&model->history, &line);
    cunei_buffer_fini(&text);
}

static uint32_t count_living(const struct cunei_top_sums *sums)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < sums->thread_count; i++)
        count += sums->threads[i].is_seen && !sums->threads[i].ended;
    return count;
}

static uint32_t count_all_tasks(const struct cunei_top_sums *sums)
{
    uint64_t count = sums->task_count + sums->whole.forgotten_tasks;

    return count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
}

static uint32_t count_tasks(const struct cunei_top_sums *sums)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < sums->task_count; i++)
        count += !sums->tasks[i].has_ended;
    return count;
}

static uint32_t count_demoted(const struct cunei_top_sums *sums)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < sums->function_count; i++)
        count += sums->functions[i].facts.estimate.demotions > 0;
    return count;
}

/* How many live, of how many. */
static void put_population(struct line *line, const char *label, uint32_t living,
                           uint32_t count, struct cunei_buffer *text)
{
    if (count == 0)
        return;
    cunei_format_count(text, living);
    if (living < count) {
        cunei_buffer_append_text(text, " of ");
        cunei_format_count(text, count);
    }
    put_figure(line, label, CUNEI_TOP_INK_STRONG, text);
}

static void put_waiting(struct line *line, const struct cunei_top_model *model,
                        struct cunei_buffer *text)
{
    const struct cunei_top_rates *rates = cunei_top_model_rates(model);

    if (rates->waiting_ns == 0)
        return;
    cunei_format_percent(text,
                         rates->waiting_ns < rates->threads_ns ? rates->waiting_ns
                                                               : rates->threads_ns,
                         rates->threads_ns);
    cunei_buffer_append_text(text, " %");
    put_figure(line, "waiting", CUNEI_TOP_INK_STRONG, text);
}

static void put_view(struct line *line, const struct cunei_top_model *model,
                     struct cunei_buffer *text)
{
    const struct cunei_top_view *view = &model->view;

    if (view->group && view->within) {
        cunei_buffer_append_text(text, model->list.groups.items[view->within - 1].text);
        put_figure(line, cunei_top_group_words[view->group], CUNEI_TOP_INK_WARM, text);
    } else if (view->group) {
        cunei_buffer_append_text(text, cunei_top_group_words[view->group]);
        put_figure(line, "grouped by", CUNEI_TOP_INK_WARM, text);
    }
    if (view->filter[0]) {
        cunei_buffer_append_text(text, view->filter);
        put_figure(line, "filter", CUNEI_TOP_INK_WARM, text);
    }
}

static void draw_population(const struct cunei_top_model *model,
                            struct cunei_grid *grid)
{
    const struct cunei_top_sums *sums = &model->now;
    const struct cunei_top_rates *rates = cunei_top_model_rates(model);
    struct line line = {grid, 2, 1};
    struct cunei_buffer text = {0};

    put_population(&line, "threads", count_living(sums), sums->thread_count, &text);
    put_population(&line, "tasks", count_tasks(sums), count_all_tasks(sums), &text);
    put_waiting(&line, model, &text);
    if (sums->raise_count > 0) {
        format_rate(rates, rates->raised, &text);
        put_figure(&line, "raised/s", CUNEI_TOP_INK_STRONG, &text);
    }
    if (count_demoted(sums) > 0) {
        cunei_format_count(&text, count_demoted(sums));
        put_figure(&line, "~ sampled by the budget", CUNEI_TOP_INK_WARM, &text);
    }
    if (sums->whole.damage_count > 0) {
        cunei_format_count(&text, sums->whole.damage_count);
        put_figure(&line, "damaged parts skipped", CUNEI_TOP_INK_BAD, &text);
    }
    put_view(&line, model, &text);
    cunei_buffer_fini(&text);
}

void cunei_top_draw_header(const struct cunei_top_model *model, struct cunei_grid *grid)
{
    draw_title(model, grid);
    if (model->has_now) {
        draw_figures(model, grid);
        draw_population(model, grid);
    }
}
