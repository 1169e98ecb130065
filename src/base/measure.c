// SPDX-License-Identifier: MIT
#include "base/measure.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct unit {
    const char *name;
    double factor;
};

static const struct unit size_units[] = {
    {"", 1},         {"B", 1},       {"K", 0x1p10},   {"KB", 0x1p10},  {"KiB", 0x1p10},
    {"M", 0x1p20},   {"MB", 0x1p20}, {"MiB", 0x1p20}, {"G", 0x1p30},   {"GB", 0x1p30},
    {"GiB", 0x1p30}, {"T", 0x1p40},  {"TB", 0x1p40},  {"TiB", 0x1p40}, {NULL, 0},
};

/* A duration must have a unit, so it skips the first. */
static const struct unit moment_units[] = {
    {"", 1e9},  {"ns", 1},     {"us", 1e3},   {"µs", 1e3}, {"ms", 1e6},
    {"s", 1e9}, {"min", 6e10}, {"h", 3.6e12}, {NULL, 0},
};

/* strtod also accepts signs, inf, nan and hexadecimal numbers. */
static bool parse_number(const char *text, double *number, char **end)
{
    if (!isdigit((unsigned char)text[0]) && text[0] != '.')
        return false;
    *number = strtod(text, end);
    return *end != text && tolower((unsigned char)text[1]) != 'x' && isfinite(*number);
}

/* A decimal number and one of the units; false for anything else. */
static bool parse(const char *text, const struct unit *units, uint64_t *value)
{
    char *end = NULL;
    double number;

    if (!parse_number(text, &number, &end))
        return false;
    for (const struct unit *unit = units; unit->name; unit++) {
        double product = number * unit->factor;
        if (strcasecmp(end, unit->name) == 0 && product < 0x1p63) {
            *value = (uint64_t)(product + 0.5);
            return true;
        }
    }
    return false;
}

bool cunei_measure_number(const char *text, double *number)
{
    char *end = NULL;
    double value;

    if (!parse_number(text, &value, &end) || *end)
        return false;
    *number = value;
    return true;
}

bool cunei_measure_percent(const char *text, double least, double most, double *percent)
{
    char *end = NULL;
    double value;

    if (!parse_number(text, &value, &end))
        return false;
    end += strspn(end, " ");
    end += *end == '%';
    if (*end || value < least || value > most)
        return false;
    *percent = value;
    return true;
}

bool cunei_measure_size(const char *text, uint64_t *bytes)
{
    return parse(text, size_units, bytes);
}

bool cunei_measure_duration(const char *text, uint64_t *ns)
{
    return parse(text, &moment_units[1], ns);
}

bool cunei_measure_moment(const char *text, uint64_t *ns)
{
    return parse(text, moment_units, ns);
}
