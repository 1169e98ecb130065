// SPDX-License-Identifier: MIT
#include "cmd/record/config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/regular_file.h"
#include "base/toml_reader.h"
#include "base/vector.h"
#include "cmd/common/message.h"
#include "cmd/common/options.h"
#include "cmd/record/record_options.h"
#include "cmd/suggest/suggestion.h"

#define FILE_NAME "pyproject.toml"
#define FILE_MAX  (4u << 20) /* bytes */

/* A file in a parent folder must not choose the Python to run, nor overwrite traces. */
static const char *const forbidden[] = {"python", "force", "no-config"};

static bool is_forbidden(const char *name)
{
    for (size_t i = 0; i < sizeof(forbidden) / sizeof(forbidden[0]); i++) {
        if (strcmp(forbidden[i], name) == 0)
            return true;
    }
    return false;
}

static const struct cunei_option *find_option(const char *name)
{
    for (const struct cunei_option *o = cunei_record_option_rows; o->name; o++) {
        if (strcmp(o->name, name) == 0 && !is_forbidden(name))
            return o;
    }
    return NULL;
}

static int unknown_key(struct cunei_syntax *syntax,
                       const struct cunei_toml_value *value)
{
    struct cunei_suggestion nearest = {.word = value->key};
    struct cunei_buffer advice = {0};

    if (is_forbidden(value->key))
        return cunei_syntax_fail(
            syntax, value->key_place,
            "[tool.cunei] cannot contain '%.40s'; use --%.40s on the command line",
            value->key, value->key);
    for (const struct cunei_option *o = cunei_record_option_rows; o->name; o++) {
        if (!is_forbidden(o->name))
            cunei_suggestion_offer(&nearest, o->name);
    }
    cunei_suggestion_format(&nearest, "", "its keys are options of 'cunei record'",
                            &advice);
    int rc =
        cunei_syntax_fail(syntax, value->key_place, "[tool.cunei] has no key '%.60s'%s",
                          value->key, advice.data ? advice.data : "");
    cunei_buffer_fini(&advice);
    return rc;
}

static bool is_flag(const struct cunei_option *option)
{
    return option->kind == CUNEI_OPTION_FLAG || option->kind == CUNEI_OPTION_PROJECT;
}

static bool is_list(const struct cunei_option *option)
{
    return option->kind == CUNEI_OPTION_INCLUDE ||
           option->kind == CUNEI_OPTION_EXCLUDE || option->kind == CUNEI_OPTION_FILTER;
}

/* What the value should be; NULL: it is. */
static const char *find_fault(const struct cunei_option *option,
                              const struct cunei_toml_value *value)
{
    if (is_flag(option))
        return value->kind == CUNEI_TOML_FLAG && !value->in_array ? NULL
                                                                  : "true or false";
    if (is_list(option))
        return value->kind == CUNEI_TOML_TEXT ||
                       (value->kind == CUNEI_TOML_ARRAY && !value->in_array)
                   ? NULL
                   : "a string, or an array of strings";
    if (option->kind == CUNEI_OPTION_CHOICE)
        return value->kind == CUNEI_TOML_TEXT && !value->in_array ? NULL : "a string";
    return (value->kind == CUNEI_TOML_TEXT || value->kind == CUNEI_TOML_WORD) &&
                   !value->in_array
               ? NULL
               : "a number or a string";
}

static int add_item(struct cunei_config *config, const struct cunei_config_item *item)
{
    if (!item->text || !CUNEI_VECTOR_RESERVE_ONE(config->items, config->count)) {
        free(item->text);
        return -ENOMEM;
    }
    config->items[config->count++] = *item;
    return 0;
}

/* As TOML has it: a table has one header, and a key stands in it once. */
static int check_once(struct cunei_config *config, struct cunei_syntax *syntax,
                      const struct cunei_toml_value *value)
{
    struct cunei_buffer line = {0};

    cunei_buffer_format(&line, "\n%s\n", value->key ? value->key : "[]");
    bool is_there =
        config->keys.data && line.data && strstr(config->keys.data, line.data) != NULL;
    cunei_buffer_append(&config->keys, line.data ? line.data : "", line.size);
    cunei_buffer_fini(&line);
    if (is_there)
        return value->key ? cunei_syntax_fail(syntax, value->key_place,
                                              "'%.60s' is set twice", value->key)
                          : cunei_syntax_fail(syntax, value->key_place,
                                              "[tool.cunei] appears twice");
    return config->keys.failed ? -ENOMEM : 0;
}

/* The table itself, or something else in its place. */
static int visit_table(struct cunei_config *config, struct cunei_syntax *syntax,
                       const struct cunei_toml_value *value)
{
    if (value->kind != CUNEI_TOML_TABLE)
        return cunei_syntax_fail(syntax, value->key_place,
                                 "expected one table here: [tool.cunei]");
    return check_once(config, syntax, value);
}

static int visit(void *context, struct cunei_syntax *syntax,
                 const struct cunei_toml_value *value)
{
    struct cunei_config *config = context;
    if (!value->key)
        return visit_table(config, syntax, value);
    const struct cunei_option *option = find_option(value->key);
    struct cunei_syntax_error here = {0};
    struct cunei_syntax place = {syntax->text, syntax->size, syntax->place, &here};

    if (!option)
        return unknown_key(syntax, value);
    const char *fault = find_fault(option, value);
    if (fault)
        return cunei_syntax_fail(syntax, value->place, "'%s' needs %s", value->key,
                                 fault);
    int rc = value->in_array ? 0 : check_once(config, syntax, value);
    if (rc < 0)
        return rc;
    if (!value->text || (is_flag(option) && strcmp(value->text, "true") != 0))
        return 0;
    (void)cunei_syntax_fail(&place, value->place, " "); /* for where it is */
    const struct cunei_config_item item = {.option = option,
                                           .text = strdup(value->text),
                                           .line = here.line,
                                           .column = here.column};
    return add_item(config, &item);
}

/* The text goes to `*text`, owned; it stays NULL if there is no file to read. */
static int read_file(struct cunei_config *config, char **text, size_t *size)
{
    struct cunei_syntax whole = {"", 0, 0, &config->error};

    int rc = cunei_regular_file_read(config->path, FILE_MAX, text, size);
    if (rc == -EBADMSG)
        return cunei_syntax_fail(&whole, 0, "%s", cunei_regular_file_problem(rc));
    if (rc == -EFBIG)
        return cunei_syntax_fail(&whole, 0, "it is longer than 4 MiB");
    return rc == -ENOMEM ? rc : 0;
}

/* 1: the file has our table; 0: it has none; -EINVAL. */
static int read_config(struct cunei_config *config)
{
    size_t size = 0;
    char *text = NULL;

    int rc = read_file(config, &text, &size);
    /* A malformed file without our table is not our business. */
    if (rc == 0 && text && strstr(text, "cunei"))
        rc = cunei_toml_parse(text, size, "tool.cunei", visit, config, &config->error);
    if (rc == 0)
        rc = config->keys.size > 0;
    free(text);
    return rc;
}

int cunei_config_read(struct cunei_config *config, const char *start)
{
    char *folder = strdup(start);
    int rc = folder ? 0 : -ENOMEM;

    while (rc == 0 && folder[0]) {
        if (asprintf(&config->path, "%s/" FILE_NAME, folder[1] ? folder : "") < 0) {
            config->path = NULL;
            rc = -ENOMEM;
            break;
        }
        rc = read_config(config);
        if (rc != 0)
            break;
        free(config->path);
        config->path = NULL;
        char *slash = strrchr(folder, '/');
        if (slash)
            slash[slash == folder && slash[1]] = '\0';
        else
            break;
    }
    free(folder);
    return rc > 0 ? 0 : rc;
}

void cunei_config_fini(struct cunei_config *config)
{
    for (size_t i = 0; i < config->count; i++)
        free(config->items[i].text);
    free(config->items);
    free(config->path);
    cunei_buffer_fini(&config->keys);
    *config = (struct cunei_config){0};
}

/* Whether it is one of those that together say which functions are recorded. */
static bool selects(const struct cunei_option *option)
{
    return option->offset == offsetof(struct cunei_record_options, patterns);
}

static bool is_typed(const struct cunei_config *config,
                     const struct cunei_option *option)
{
    for (const struct cunei_option *o = cunei_record_option_rows; o->name; o++) {
        bool is_same = o == option || (selects(o) && selects(option));
        if (is_same && config->typed >> (o - cunei_record_option_rows) & 1)
            return true;
    }
    return false;
}

/* A filter is named from the folder of the file that names it. */
static char *path_of(const struct cunei_config *config, const char *text)
{
    const char *slash = strrchr(config->path, '/');
    char *path = NULL;

    if (text[0] == '/')
        return strdup(text);
    return asprintf(&path, "%.*s/%s", (int)(slash - config->path), config->path, text) <
                   0
               ? NULL
               : path;
}

static int set_item(const struct cunei_config *config,
                    const struct cunei_config_item *item,
                    struct cunei_record_options *values, const char *path)
{
    struct cunei_patterns *patterns = &values->patterns;
    size_t before = patterns->count;

    int status = cunei_options_set(item->option, values, path ? path : item->text);
    if (patterns->count == before || path)
        return status;
    cunei_patterns_set_line(patterns, item->line);
    return cunei_patterns_set_file(patterns, before, config->path) < 0
               ? cunei_cmd_fail(-ENOMEM, "cannot add '%s'", item->text)
               : status;
}

/* Messages about the value become the error, with its place in the file. */
static int apply_item(struct cunei_config *config, const struct cunei_config_item *item,
                      struct cunei_record_options *values)
{
    char *path =
        item->option->kind == CUNEI_OPTION_FILTER ? path_of(config, item->text) : NULL;
    struct cunei_buffer messages = {0};

    struct cunei_buffer *before = cunei_cmd_catch(&messages);
    int status = set_item(config, item, values, path);
    if (status == CUNEI_OPTIONS_CONTINUE)
        status = cunei_record_options_check(values);
    (void)cunei_cmd_catch(before);
    free(path);
    if (status != CUNEI_OPTIONS_CONTINUE) {
        config->error.line = item->line;
        config->error.column = item->column;
        (void)snprintf(config->error.text, sizeof(config->error.text), "%s",
                       messages.data ? messages.data : "");
    } else if (messages.size)
        cunei_cmd_note("%s", messages.data);
    cunei_buffer_fini(&messages);
    return status == CUNEI_OPTIONS_CONTINUE ? 0 : -EINVAL;
}

/* The same order as in cunei.start(). */
static int order_of(const struct cunei_option *option)
{
    return option->kind == CUNEI_OPTION_FILTER    ? 0
           : option->kind == CUNEI_OPTION_INCLUDE ? 1
                                                  : 2;
}

int cunei_config_apply(struct cunei_config *config, struct cunei_record_options *values)
{
    struct cunei_buffer used = {0};
    int rc = 0;

    config->typed = values->typed;
    for (int order = 0; order < 3; order++) {
        const struct cunei_option *before = NULL;
        for (size_t i = 0; i < config->count && rc == 0; i++) {
            const struct cunei_config_item *item = &config->items[i];
            if (order_of(item->option) != order || is_typed(config, item->option))
                continue;
            rc = apply_item(config, item, values);
            if (item->option != before)
                cunei_buffer_format(&used, "%s%s", used.size ? ", " : "",
                                    item->option->name);
            before = item->option;
        }
    }
    if (rc == 0 && used.size && !values->quiet)
        cunei_cmd_note("options from [tool.cunei] in '%s': %s", config->path,
                       used.data);
    cunei_buffer_fini(&used);
    return rc;
}

const struct cunei_config_item *cunei_config_item(const struct cunei_config *config,
                                                  const char *name)
{
    const struct cunei_option *option = find_option(name);

    for (size_t i = 0; option && i < config->count; i++) {
        if (config->items[i].option->offset == option->offset &&
            !is_typed(config, option))
            return &config->items[i];
    }
    return NULL;
}

void cunei_config_format(const struct cunei_config *config, struct cunei_buffer *out)
{
    const struct cunei_option *before = NULL;

    if (config->count == 0)
        cunei_buffer_append_text(out, "nothing");
    for (size_t i = 0; i < config->count; i++) {
        const struct cunei_config_item *item = &config->items[i];
        if (item->option == before)
            cunei_buffer_format(out, ", %s", item->text);
        else
            cunei_buffer_format(out, "%s%s%s%s", before ? "; " : "", item->option->name,
                                is_flag(item->option) ? "" : " = ",
                                is_flag(item->option) ? "" : item->text);
        before = item->option;
    }
}
