// SPDX-License-Identifier: MIT
#include "top/view/columns.h"

#include <string.h>

#include "analysis/function_numbers.h"
#include "base/buffer.h"
#include "text/format.h"

#define UNKNOWN   "–"
#define BAR_WIDTH 8

void cunei_top_format_rate(struct cunei_buffer *out, double rate)
{
    static const char *const units[] = {"", "k", "M", "G", "T"};
    size_t unit = 0;

    if (rate > 0 && rate < 9.995) {
        cunei_buffer_format(out, rate < 0.995 ? "%.2f" : "%.1f", rate);
        return;
    }
    for (; unit < 4 && rate >= 9999.5; unit++)
        rate /= 1000;
    if (unit == 0 || rate >= 99.95)
        cunei_buffer_format(out, "%.0f%s", rate, units[unit]);
    else
        cunei_buffer_format(out, "%.1f%s", rate, units[unit]);
}

void cunei_top_put_bar(struct cunei_buffer *out, double share, int width)
{
    static const char *const ends[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    int eighths = (int)((share > 1 ? 1 : share) * 8 * width + 0.5);

    for (int i = 0; i < eighths / 8; i++)
        cunei_buffer_append_text(out, "█");
    cunei_buffer_append_text(out, ends[eighths % 8]);
}

static void put_share(struct cunei_buffer *out, double share)
{
    cunei_buffer_format(out, "%.1f", 100 * share);
}

/* Numbers that a budget estimated are marked. */
static void mark(struct cunei_buffer *out, bool is_estimated)
{
    if (is_estimated)
        cunei_buffer_append_text(out, "~");
}

static double self_share(const struct cunei_top_entry *entry,
                         const struct cunei_top_rates *rates)
{
    return cunei_top_rates_share(entry->rate.self_ns,
                                 entry->waits ? rates->threads_ns : rates->work_ns);
}

static void put_self_share(const struct cunei_top_entry *entry,
                           const struct cunei_top_rates *rates,
                           struct cunei_buffer *out)
{
    mark(out, entry->is_self_estimated);
    put_share(out, self_share(entry, rates));
}

static void put_bar(const struct cunei_top_entry *entry,
                    const struct cunei_top_rates *rates, struct cunei_buffer *out)
{
    cunei_top_put_bar(out, self_share(entry, rates), BAR_WIDTH);
}

static double total_share(const struct cunei_top_entry *entry,
                          const struct cunei_top_rates *rates)
{
    return cunei_top_rates_share(entry->rate.total_ns, rates->threads_ns);
}

static void put_total_share(const struct cunei_top_entry *entry,
                            const struct cunei_top_rates *rates,
                            struct cunei_buffer *out)
{
    mark(out, entry->is_estimated);
    put_share(out, total_share(entry, rates));
}

/* Resumed generators and coroutines run again without a call. */
static double call_rate(const struct cunei_top_entry *entry,
                        const struct cunei_top_rates *rates)
{
    return cunei_top_rates_per_second(rates, entry->rate.calls);
}

static void put_call_rate(const struct cunei_top_entry *entry,
                          const struct cunei_top_rates *rates, struct cunei_buffer *out)
{
    mark(out, entry->is_estimated && !entry->sums->facts.estimate.is_counted);
    cunei_top_format_rate(out, call_rate(entry, rates));
}

static double calls(const struct cunei_top_entry *entry,
                    const struct cunei_top_rates *rates)
{
    (void)rates;
    return (double)entry->sums->facts.calls;
}

static void put_calls(const struct cunei_top_entry *entry,
                      const struct cunei_top_rates *rates, struct cunei_buffer *out)
{
    (void)rates;
    mark(out, entry->is_estimated && !entry->sums->facts.estimate.is_counted);
    cunei_format_count(out, entry->sums->facts.calls);
}

static double resume_rate(const struct cunei_top_entry *entry,
                          const struct cunei_top_rates *rates)
{
    return cunei_top_rates_per_second(rates, entry->rate.resumes);
}

static void put_resume_rate(const struct cunei_top_entry *entry,
                            const struct cunei_top_rates *rates,
                            struct cunei_buffer *out)
{
    cunei_top_format_rate(out, resume_rate(entry, rates));
}

static double raise_rate(const struct cunei_top_entry *entry,
                         const struct cunei_top_rates *rates)
{
    return cunei_top_rates_per_second(rates, entry->rate.raised);
}

static void put_raise_rate(const struct cunei_top_entry *entry,
                           const struct cunei_top_rates *rates,
                           struct cunei_buffer *out)
{
    cunei_top_format_rate(out, raise_rate(entry, rates));
}

/* Of its own time, the part that it spends itself.  Activations of a recursion each
 * have a self time, and one total. */
static double own_share(const struct cunei_top_entry *entry,
                        const struct cunei_top_rates *rates)
{
    (void)rates;
    double share = cunei_top_rates_share(entry->rate.self_ns, entry->rate.total_ns);
    return share > 1 ? 1 : share;
}

static void put_own(const struct cunei_top_entry *entry,
                    const struct cunei_top_rates *rates, struct cunei_buffer *out)
{
    if (entry->rate.total_ns == 0)
        cunei_buffer_append_text(out, UNKNOWN);
    else
        put_share(out, own_share(entry, rates));
}

static double below_share(const struct cunei_top_entry *entry,
                          const struct cunei_top_rates *rates)
{
    return entry->rate.total_ns ? 1 - own_share(entry, rates) : 0;
}

static void put_below(const struct cunei_top_entry *entry,
                      const struct cunei_top_rates *rates, struct cunei_buffer *out)
{
    if (entry->rate.total_ns == 0)
        cunei_buffer_append_text(out, UNKNOWN);
    else
        put_share(out, below_share(entry, rates));
}

static double self_time(const struct cunei_top_entry *entry,
                        const struct cunei_top_rates *rates)
{
    (void)rates;
    return (double)entry->sums->self_ns;
}

static void put_self_time(const struct cunei_top_entry *entry,
                          const struct cunei_top_rates *rates, struct cunei_buffer *out)
{
    (void)rates;
    mark(out, entry->is_self_estimated);
    cunei_format_duration(out, entry->sums->self_ns);
}

static double total_time(const struct cunei_top_entry *entry,
                         const struct cunei_top_rates *rates)
{
    (void)rates;
    return (double)entry->sums->total_ns;
}

static void put_total_time(const struct cunei_top_entry *entry,
                           const struct cunei_top_rates *rates,
                           struct cunei_buffer *out)
{
    (void)rates;
    mark(out, entry->is_estimated);
    cunei_format_duration(out, entry->sums->total_ns);
}

static double mean_time(const struct cunei_top_entry *entry,
                        const struct cunei_top_rates *rates)
{
    (void)rates;
    return (double)cunei_function_mean_ns(&entry->sums->facts);
}

static void put_mean(const struct cunei_top_entry *entry,
                     const struct cunei_top_rates *rates, struct cunei_buffer *out)
{
    (void)rates;
    if (!cunei_function_has_mean(&entry->sums->facts)) {
        cunei_buffer_append_text(out, UNKNOWN);
        return;
    }
    mark(out, entry->is_estimated);
    cunei_format_duration(out, cunei_function_mean_ns(&entry->sums->facts));
}

/* Of single activations, if one was recorded from its begin to its end. */
static void put_activation(const struct cunei_top_entry *entry,
                           struct cunei_buffer *out, uint64_t ns)
{
    if (entry->sums->facts.histogram.span > 0)
        cunei_format_duration(out, ns);
    else
        cunei_buffer_append_text(out, UNKNOWN);
}

static double p99_time(const struct cunei_top_entry *entry,
                       const struct cunei_top_rates *rates)
{
    (void)rates;
    return (double)cunei_function_quantile_ns(&entry->sums->facts, 0.99);
}

static void put_p99(const struct cunei_top_entry *entry,
                    const struct cunei_top_rates *rates, struct cunei_buffer *out)
{
    (void)rates;
    put_activation(entry, out, cunei_function_quantile_ns(&entry->sums->facts, 0.99));
}

static double max_time(const struct cunei_top_entry *entry,
                       const struct cunei_top_rates *rates)
{
    (void)rates;
    return (double)entry->sums->facts.max_ns;
}

static void put_max(const struct cunei_top_entry *entry,
                    const struct cunei_top_rates *rates, struct cunei_buffer *out)
{
    (void)rates;
    put_activation(entry, out, entry->sums->facts.max_ns);
}

static void put_name(const struct cunei_top_entry *entry,
                     const struct cunei_top_rates *rates, struct cunei_buffer *out)
{
    (void)rates;
    cunei_buffer_append_text(out, entry->name);
}

static void put_place(const struct cunei_top_entry *entry,
                      const struct cunei_top_rates *rates, struct cunei_buffer *out)
{
    (void)rates;
    cunei_buffer_append_text(out, entry->place);
}

const struct cunei_top_column cunei_top_columns[] = {
    {.word = "self%",
     .head = "self%",
     .width = 5,
     .is_heat = true,
     .key = self_share,
     .put = put_self_share,
     .help = "share of the time threads did not wait, in the last interval"},
    {.word = "bar",
     .head = "",
     .rank = 2,
     .width = BAR_WIDTH,
     .is_text = true,
     .is_heat = true,
     .key = self_share,
     .put = put_bar,
     .help = "self% as a bar"},
    {.word = "total%",
     .head = "total%",
     .rank = 3,
     .width = 6,
     .key = total_share,
     .put = put_total_share,
     .help = "share of the time of all threads, with everything it called"},
    {.word = "calls/s",
     .head = "calls/s",
     .rank = 1,
     .width = 7,
     .key = call_rate,
     .put = put_call_rate,
     .help = "calls per second"},
    {.word = "calls",
     .head = "calls",
     .rank = 5,
     .width = 9,
     .key = calls,
     .put = put_calls,
     .help = "calls since the start"},
    {.word = "resumes/s",
     .head = "resumes/s",
     .rank = 14,
     .width = 9,
     .is_hidden = true,
     .key = resume_rate,
     .put = put_resume_rate,
     .help = "resumptions of generators and coroutines per second"},
    {.word = "raised/s",
     .head = "raised/s",
     .rank = 13,
     .width = 8,
     .is_hidden = true,
     .key = raise_rate,
     .put = put_raise_rate,
     .help = "calls that ended with an exception, per second"},
    {.word = "own%",
     .head = "own%",
     .rank = 8,
     .width = 5,
     .key = own_share,
     .put = put_own,
     .help = "the share of its total time in the function itself"},
    {.word = "below%",
     .head = "below%",
     .rank = 9,
     .width = 6,
     .key = below_share,
     .put = put_below,
     .help = "the share of its total time in what it called"},
    {.word = "self",
     .head = "self",
     .rank = 6,
     .width = 7,
     .key = self_time,
     .put = put_self_time,
     .help = "time in the function itself, since the start"},
    {.word = "total",
     .head = "total",
     .rank = 7,
     .width = 7,
     .key = total_time,
     .put = put_total_time,
     .help = "time with everything it called, since the start"},
    {.word = "mean",
     .head = "mean",
     .rank = 4,
     .width = 7,
     .key = mean_time,
     .put = put_mean,
     .help = "mean duration of a call"},
    {.word = "p99",
     .head = "≈p99",
     .rank = 10,
     .width = 7,
     .key = p99_time,
     .put = put_p99,
     .help = "99 of 100 calls are not longer"},
    {.word = "max",
     .head = "max",
     .rank = 11,
     .width = 7,
     .key = max_time,
     .put = put_max,
     .help = "the longest call"},
    {.word = "function",
     .head = "function",
     .width = 20,
     .is_text = true,
     .put = put_name,
     .help = "qualified name"},
    {.word = "place",
     .head = "file:line",
     .rank = 1,
     .width = 14,
     .is_text = true,
     .put = put_place,
     .help = "where it is defined"},
};

const size_t cunei_top_column_count =
    sizeof(cunei_top_columns) / sizeof(cunei_top_columns[0]);

int cunei_top_column_find(const char *word, size_t size)
{
    for (size_t i = 0; i < cunei_top_column_count; i++) {
        const char *known = cunei_top_columns[i].word;
        if (strlen(known) == size && strncmp(known, word, size) == 0)
            return (int)i;
    }
    return -1;
}
