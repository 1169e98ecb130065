// SPDX-License-Identifier: MIT
#include "view/format.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "wire/process.h"

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
    /* The limits lie where the rounding goes up to the next power of ten. */
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

void cunei_format_several(struct cunei_buffer *out, uint64_t count, const char *one)
{
    size_t size = strlen(one);
    bool sibilant = size > 1 && one[size - 1] == 's';

    cunei_format_count(out, count);
    cunei_buffer_format(out, " %s%s", one, count == 1 ? "" : sibilant ? "es" : "s");
}

/* What follows the directory of `size` bytes in `file`, or NULL. */
static const char *below(const char *file, const char *directory, size_t size)
{
    if (size < 2 || strncmp(file, directory, size) != 0 || file[size] != '/')
        return NULL;
    return file + size + 1;
}

/* The file below the directories that its user has in mind, or NULL. */
static const char *below_home(const char *file, const struct cunei_process *process)
{
    const char *script = process->argument_count > 0 ? process->arguments[0] : "";
    const char *slash = strrchr(script, '/');
    size_t size = slash ? (size_t)(slash - script) : 0;
    const char *here = process->directory
                           ? below(file, process->directory, strlen(process->directory))
                           : NULL;

    /* The script as it was typed: from the root, or from the working directory. */
    const char *beside = script[0] == '/' ? below(file, script, size)
                         : here           ? below(here, script, size)
                                          : NULL;
    return beside ? beside : here;
}

const char *cunei_format_file(const char *file, const struct cunei_process *process)
{
    static const char *const roots[] = {"/site-packages/", "/dist-packages/"};
    const char *home = process ? below_home(file, process) : NULL;

    if (home)
        return home;
    for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
        const char *at = strstr(file, roots[i]);
        if (at)
            return at + strlen(roots[i]);
    }
    const char *library = strstr(file, "/lib/python3");
    const char *end = library ? strchr(library + strlen("/lib/python3"), '/') : NULL;
    return end ? end + 1 : file;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* Whether a Python's option takes the next word as its value. */
static bool takes_value(const char *word)
{
    return (word[1] == 'X' || word[1] == 'W') && word[2] == '\0';
}

void cunei_format_program(struct cunei_buffer *out, const struct cunei_process *process)
{
    size_t count = process->argument_count;
    char *const *words = process->arguments;

    if (count == 0) {
        cunei_buffer_append_text(out, "python");
        return;
    }
    if (strcmp(words[0], "-c") == 0 || strcmp(words[0], "-m") == 0) {
        cunei_buffer_format(out, "python %s", words[0]);
        return;
    }
    if (strncmp(base_name(words[0]), "python", 6) != 0) {
        cunei_buffer_append_text(out, base_name(words[0]));
        return;
    }
    for (size_t i = 1; i < count; i++) {
        if (words[i][0] != '-' || words[i][1] == '\0') {
            cunei_buffer_append_text(out, base_name(words[i]));
            return;
        }
        if (strcmp(words[i], "-m") == 0 && i + 1 < count) {
            cunei_buffer_format(out, "-m %s", words[i + 1]);
            return;
        }
        if (strncmp(words[i], "-c", 2) == 0) {
            cunei_buffer_append_text(out, "python -c");
            return;
        }
        i += takes_value(words[i]);
    }
    cunei_buffer_append_text(out, base_name(words[0]));
}
