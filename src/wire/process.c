// SPDX-License-Identifier: MIT
#include "wire/process.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/text.h"
#include "base/vector.h"
#include "wire/event.h"

enum field_kind {
    FIELD_NUMBER,
    FIELD_FLAG,
    FIELD_TEXT,
};

static const struct field {
    const char *key;
    enum field_kind kind;
    bool changes; /* it may be written again later */
    size_t offset;
} fields[] = {
#define FIELD(kind, name)                                        \
    {                                                            \
#name, kind, false, offsetof(struct cunei_process, name) \
    }
#define CHANGING(kind, name) CHANGING_AS(kind, #name, name)
#define CHANGING_AS(kind, key, name)                          \
    {                                                         \
        key, kind, true, offsetof(struct cunei_process, name) \
    }
    FIELD(FIELD_NUMBER, pid),
    FIELD(FIELD_NUMBER, parent),
    FIELD(FIELD_NUMBER, start_ns),
    FIELD(FIELD_NUMBER, start_cpu_ns),
    FIELD(FIELD_NUMBER, event_cost_ps),
    FIELD(FIELD_NUMBER, budget),
    FIELD(FIELD_NUMBER, keep),
    FIELD(FIELD_NUMBER, keep_ns),
    FIELD(FIELD_NUMBER, snapshot_ns),
    FIELD(FIELD_NUMBER, complete_ns),
    FIELD(FIELD_FLAG, running),
    FIELD(FIELD_FLAG, started_inside),
    FIELD(FIELD_FLAG, attached),
    FIELD(FIELD_FLAG, forked),
    FIELD(FIELD_FLAG, c_calls),
    FIELD(FIELD_TEXT, host),
    FIELD(FIELD_TEXT, python),
    FIELD(FIELD_TEXT, instrumenter),
    FIELD(FIELD_TEXT, executable),
    FIELD(FIELD_TEXT, directory),
    FIELD(FIELD_TEXT, project),
    FIELD(FIELD_TEXT, parent_folder),
    CHANGING(FIELD_TEXT, name),
    CHANGING(FIELD_TEXT, became),
    CHANGING(FIELD_NUMBER, end_ns),
    CHANGING(FIELD_NUMBER, cpu_ns),
    CHANGING(FIELD_NUMBER, lost),
    CHANGING(FIELD_NUMBER, lost_no_stream),
    CHANGING(FIELD_NUMBER, lost_no_space),
    CHANGING(FIELD_NUMBER, lost_no_function),
    CHANGING(FIELD_NUMBER, clamped),
    CHANGING(FIELD_NUMBER, write_ns),
    CHANGING(FIELD_NUMBER, write_cpu_ns),
    CHANGING(FIELD_NUMBER, stop_errno),
    CHANGING(FIELD_FLAG, full),
    CHANGING(FIELD_NUMBER, interpreters),
    CHANGING_AS(FIELD_NUMBER, "taken", lost_threads),
    CHANGING_AS(FIELD_NUMBER, "unheard", decorated_refusal),
    CHANGING(FIELD_NUMBER, exit_status),
    CHANGING(FIELD_FLAG, left),
    CHANGING(FIELD_FLAG, exited),
    CHANGING(FIELD_NUMBER, signal),
    /* Last: a reader that finds it has read all the others. */
    CHANGING(FIELD_FLAG, ended),
#undef FIELD
#undef CHANGING
#undef CHANGING_AS
};

#define FIELD_COUNT (sizeof(fields) / sizeof(fields[0]))

int cunei_process_add(char ***list, size_t *count, const char *text)
{
    if (!CUNEI_VECTOR_RESERVE_ONE(*list, *count))
        return -ENOMEM;
    char *copy = strdup(text);
    if (!copy)
        return -ENOMEM;
    (*list)[(*count)++] = copy;
    return 0;
}

static void format_text(struct cunei_buffer *out, const char *key, const char *value)
{
    cunei_buffer_format(out, "%s ", key);
    cunei_text_quote(out, value, strlen(value));
    cunei_buffer_append_text(out, "\n");
}

static void format_field(const struct cunei_process *process, const struct field *field,
                         struct cunei_buffer *out)
{
    const char *at = (const char *)process + field->offset;

    if (field->kind == FIELD_NUMBER)
        cunei_buffer_format(out, "%s %" PRIu64 "\n", field->key,
                            *(const uint64_t *)(const void *)at);
    else if (field->kind == FIELD_FLAG)
        cunei_buffer_format(out, "%s %d\n", field->key, *(const bool *)at);
    else if (*(char *const *)(const void *)at)
        format_text(out, field->key, *(char *const *)(const void *)at);
}

void cunei_process_format_change(const struct cunei_process *process,
                                 struct cunei_buffer *out)
{
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        if (fields[i].changes)
            format_field(process, &fields[i], out);
    }
}

void cunei_process_format_pattern(const char *pattern, struct cunei_buffer *out)
{
    format_text(out, "pattern", pattern);
}

void cunei_process_format_child(const struct cunei_child_end *child,
                                struct cunei_buffer *out)
{
    cunei_buffer_format(out, "child %d %d ", child->wait_status, child->sent_signal);
    cunei_text_quote(out, child->folder, strlen(child->folder));
    cunei_buffer_append_text(out, "\n");
}

void cunei_process_format(const struct cunei_process *process, struct cunei_buffer *out)
{
    cunei_buffer_format(out, "cunei %d\n", CUNEI_WIRE_VERSION);
    for (size_t i = 0; i < FIELD_COUNT; i++)
        format_field(process, &fields[i], out);
    for (size_t i = 0; i < process->argument_count; i++)
        format_text(out, "argument", process->arguments[i]);
    for (size_t i = 0; i < process->pattern_count; i++)
        cunei_process_format_pattern(process->patterns[i], out);
    for (size_t i = 0; i < process->child_count; i++)
        cunei_process_format_child(&process->children[i], out);
    for (size_t i = 0; i < process->cause_count; i++)
        cunei_cause_format(&process->causes[i], out);
}

static int set_field(struct cunei_process *process, const struct field *field,
                     const char *value)
{
    char *at = (char *)process + field->offset;

    if (field->kind == FIELD_TEXT) {
        char **text = (char **)(void *)at;
        free(*text);
        *text = strdup(value);
        return *text ? 0 : -ENOMEM;
    }

    char *end = NULL;
    errno = 0;
    unsigned long long number = strtoull(value, &end, 10);
    if (errno != 0 || end == value || *end != '\0')
        return -EINVAL;
    if (field->kind == FIELD_FLAG)
        *(bool *)at = number != 0;
    else
        *(uint64_t *)(void *)at = number;
    return 0;
}

static int parse_child(struct cunei_process *process, const char *value)
{
    struct cunei_child_end child = {0};
    char *end = NULL;

    child.wait_status = (int)strtol(value, &end, 10);
    child.sent_signal = (int)strtol(end, &end, 10);
    if (*end != ' ')
        return -EINVAL;
    child.folder = strdup(end + 1);
    if (!child.folder ||
        !CUNEI_VECTOR_RESERVE_ONE(process->children, process->child_count)) {
        free(child.folder);
        return -ENOMEM;
    }
    process->children[process->child_count++] = child;
    return 0;
}

static int parse_cause(struct cunei_process *process, char *value)
{
    if (!CUNEI_VECTOR_RESERVE_ONE(process->causes, process->cause_count))
        return -ENOMEM;
    int rc = cunei_cause_parse(&process->causes[process->cause_count], value);
    process->cause_count += rc == 0;
    return rc;
}

static int parse_line(struct cunei_process *process, const char *key, char *value)
{
    if (strcmp(key, "argument") == 0)
        return cunei_process_add(&process->arguments, &process->argument_count, value);
    if (strcmp(key, "pattern") == 0)
        return value[0] == '+' || value[0] == '-'
                   ? cunei_process_add(&process->patterns, &process->pattern_count,
                                       value)
                   : -EINVAL;
    if (strcmp(key, "child") == 0)
        return parse_child(process, value);
    if (strcmp(key, "cause") == 0)
        return parse_cause(process, value);
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        if (strcmp(key, fields[i].key) == 0)
            return set_field(process, &fields[i], value);
    }
    return 0; /* from a later build of this version: of no concern */
}

/* The first line names the version: refuse another before anything else is read. */
static int check_version(const char *line)
{
    char *end = NULL;

    if (!line || strncmp(line, "cunei ", 6) != 0)
        return -EINVAL;
    long version = strtol(line + 6, &end, 10);
    if (end == line + 6 || *end != '\0')
        return -EINVAL;
    return version == CUNEI_WIRE_VERSION ? 0 : -EPROTO;
}

int cunei_process_parse(struct cunei_process *process, const char *text, size_t size)
{
    char *rest = NULL;
    const char *last = memrchr(text, '\n', size);
    /* What stands behind the last line break is still being written. */
    char *copy = strndup(text, last ? (size_t)(last - text) : 0);
    if (!copy)
        return -ENOMEM;

    *process = (struct cunei_process){0};
    int rc = check_version(strtok_r(copy, "\n", &rest));
    for (char *line = NULL; rc == 0 && (line = strtok_r(NULL, "\n", &rest));) {
        char *value = strchr(line, ' ');
        if (!value) {
            rc = -EINVAL;
            break;
        }
        *value++ = '\0';
        value[cunei_text_unquote(value, strlen(value))] = '\0';
        rc = parse_line(process, line, value);
    }
    free(copy);
    if (rc < 0)
        cunei_process_fini(process);
    return rc;
}

static void free_list(char **list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(list[i]);
    free(list);
}

void cunei_process_fini(struct cunei_process *process)
{
    free(process->host);
    free(process->python);
    free(process->instrumenter);
    free(process->executable);
    free(process->directory);
    free(process->project);
    free(process->name);
    free(process->parent_folder);
    free(process->became);
    free_list(process->arguments, process->argument_count);
    free_list(process->patterns, process->pattern_count);
    for (size_t i = 0; i < process->child_count; i++)
        free(process->children[i].folder);
    free(process->children);
    for (size_t i = 0; i < process->cause_count; i++)
        cunei_cause_fini(&process->causes[i]);
    free(process->causes);
    *process = (struct cunei_process){0};
}
