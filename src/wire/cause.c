// SPDX-License-Identifier: MIT
#include "wire/cause.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/text.h"

enum {
    NUMBERS = 5,
    TEXTS = 4
};

static void put_text(struct cunei_buffer *out, const char *text)
{
    cunei_buffer_append_text(out, " ");
    cunei_text_quote(out, text, strlen(text));
}

void cunei_cause_format(const struct cunei_cause *cause, struct cunei_buffer *out)
{
    struct cunei_buffer value = {0};

    cunei_buffer_format(
        &value, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu32 " %" PRIu32,
        cause->time_ns, cause->value, cause->count, cause->thread, cause->line);
    put_text(&value, cause->trigger);
    put_text(&value, cause->what);
    put_text(&value, cause->function);
    put_text(&value, cause->thread_name);
    cunei_buffer_append_text(out, "cause ");
    cunei_text_quote(out, cunei_buffer_text(&value), value.size);
    cunei_buffer_append_text(out, "\n");
    out->failed |= value.failed;
    cunei_buffer_fini(&value);
}

/* The next number, which ends with a space. */
static int parse_number(char **at, uint64_t *number)
{
    char *end = NULL;

    errno = 0;
    *number = strtoull(*at, &end, 10);
    if (errno != 0 || end == *at || **at == '-' || *end != ' ')
        return -EINVAL;
    *at = end + 1;
    return 0;
}

/* The next text, up to a space or the end. */
static char *parse_text(char **at)
{
    char *begin = *at, *space = begin ? strchr(begin, ' ') : NULL;

    if (!begin)
        return NULL;
    *at = space ? space + 1 : NULL;
    if (space)
        *space = '\0';
    begin[cunei_text_unquote(begin, strlen(begin))] = '\0';
    return strdup(begin);
}

int cunei_cause_parse(struct cunei_cause *cause, char *value)
{
    uint64_t numbers[NUMBERS];
    unsigned spaces = 0;

    for (size_t i = 0; i < NUMBERS; i++) {
        if (parse_number(&value, &numbers[i]) < 0)
            return -EINVAL;
    }
    for (const char *at = value; *at; at++)
        spaces += *at == ' ';
    if (spaces != TEXTS - 1 || numbers[3] > UINT32_MAX || numbers[4] > UINT32_MAX)
        return -EINVAL;
    *cause = (struct cunei_cause){.time_ns = numbers[0],
                                  .value = numbers[1],
                                  .count = numbers[2],
                                  .thread = (uint32_t)numbers[3],
                                  .line = (uint32_t)numbers[4]};
    cause->trigger = parse_text(&value);
    cause->what = parse_text(&value);
    cause->function = parse_text(&value);
    cause->thread_name = parse_text(&value);
    if (cause->trigger && cause->what && cause->function && cause->thread_name)
        return 0;
    cunei_cause_fini(cause);
    return -ENOMEM;
}

int cunei_cause_copy(struct cunei_cause *copy, const struct cunei_cause *cause)
{
    *copy = *cause;
    copy->trigger = strdup(cause->trigger);
    copy->what = strdup(cause->what);
    copy->function = strdup(cause->function);
    copy->thread_name = strdup(cause->thread_name);
    if (copy->trigger && copy->what && copy->function && copy->thread_name)
        return 0;
    cunei_cause_fini(copy);
    return -ENOMEM;
}

void cunei_cause_fini(struct cunei_cause *cause)
{
    free(cause->trigger);
    free(cause->what);
    free(cause->function);
    free(cause->thread_name);
    *cause = (struct cunei_cause){0};
}
