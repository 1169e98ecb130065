// SPDX-License-Identifier: MIT
#include "text/format.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"

void cunei_format_count(struct cunei_buffer *out, uint64_t count)
{
    char digits[24];
    int size = snprintf(digits, sizeof(digits), "%" PRIu64, count);

    for (int i = 0; i < size; i++) {
        if (i > 0 && (size - i) % 3 == 0)
            cunei_buffer_append(out, " ", 1);
        cunei_buffer_append(out, &digits[i], 1);
    }
}

/* Three significant digits of value / unit. */
static void format_three(struct cunei_buffer *out, double value)
{
    /* The limits are those from which on rounding gives the next power of ten. */
    if (value < 9.995)
        cunei_buffer_format(out, "%.2f", value);
    else if (value < 99.95)
        cunei_buffer_format(out, "%.1f", value);
    else
        cunei_format_count(out, (uint64_t)(value + 0.5));
}

void cunei_format_duration(struct cunei_buffer *out, uint64_t ns)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    size_t unit = 0;

    if (ns < 1000) {
        cunei_buffer_format(out, "%" PRIu64 " ns", ns);
        return;
    }
    while (unit < 2 && (double)ns / units[unit].ns >= 999.5)
        unit++;
    format_three(out, (double)ns / units[unit].ns);
    cunei_buffer_format(out, " %s", units[unit].name);
}

void cunei_format_percent(struct cunei_buffer *out, uint64_t part, uint64_t whole)
{
    double percent = whole ? 100.0 * (double)part / (double)whole : 0.0;

    cunei_buffer_format(out, "%.1f", percent);
}

void cunei_format_size(struct cunei_buffer *out, uint64_t bytes)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
    double value = (double)bytes;
    size_t unit = 0;

    for (; unit < 4 && value >= 999.5; unit++)
        value /= 1000;
    if (unit == 0)
        cunei_buffer_format(out, "%" PRIu64, bytes);
    else
        format_three(out, value);
    cunei_buffer_format(out, " %s", units[unit]);
}

void cunei_format_name(struct cunei_buffer *out, const char *name)
{
    cunei_buffer_append_text(out, name[0] ? name : "\"\"");
}

void cunei_format_several(struct cunei_buffer *out, uint64_t count, const char *one)
{
    size_t size = strlen(one);
    bool sibilant = size > 1 && one[size - 1] == 's';

    cunei_format_count(out, count);
    cunei_buffer_format(out, " %s%s", one, count == 1 ? "" : sibilant ? "es" : "s");
}
