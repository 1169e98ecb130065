// SPDX-License-Identifier: MIT
#include "wire/control_message.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/json_reader.h"
#include "base/text.h"

#define NUMBER_MAX (UINT64_MAX / 10 - 1)

enum kind {
    NUMBER,
    FLAG,
    TEXT,
    ACTION
};

/* A member of a message: its place in the struct. */
struct member {
    const char *name;
    enum kind kind;
    size_t offset;
};

#define IN_REQUEST(name, field, kind)                             \
    {                                                             \
        name, kind, offsetof(struct cunei_control_request, field) \
    }
#define IN_ANSWER(name, field, kind)                             \
    {                                                            \
        name, kind, offsetof(struct cunei_control_answer, field) \
    }

static const struct member request_members[] = {
    IN_REQUEST("do", action, ACTION),
    IN_REQUEST("session", session, NUMBER),
    IN_REQUEST("stay", stay, FLAG),
    IN_REQUEST("record", record, TEXT),
    {0},
};

static const struct member answer_members[] = {
    IN_ANSWER("error", error, TEXT),
    IN_ANSWER("pid", pid, NUMBER),
    IN_ANSWER("version", version, TEXT),
    IN_ANSWER("python", python, TEXT),
    IN_ANSWER("armed_by", armed_by, TEXT),
    IN_ANSWER("directory", directory, TEXT),
    IN_ANSWER("session", session, NUMBER),
    IN_ANSWER("stay", stay, FLAG),
    IN_ANSWER("has_controller", has_controller, FLAG),
    {0},
};

static const char *const action_names[CUNEI_CONTROL_ACTIONS] = {
    [CUNEI_CONTROL_STATUS] = "status", [CUNEI_CONTROL_START] = "start",
    [CUNEI_CONTROL_RESUME] = "resume", [CUNEI_CONTROL_STOP] = "stop",
    [CUNEI_CONTROL_CHANGE] = "change", [CUNEI_CONTROL_DISARM] = "disarm",
};

const char *cunei_control_action_name(enum cunei_control_action action)
{
    return action_names[action];
}

static void put_text(struct cunei_buffer *out, const char *text)
{
    cunei_text_json(out, text, strlen(text));
}

/* NULL texts, false and 0 are what a reader assumes. */
static void put_member(struct cunei_buffer *out, const struct member *member,
                       const char *place)
{
    const char *text = member->kind == TEXT ? *(char *const *)place : NULL;
    uint64_t number = member->kind == NUMBER ? *(const uint64_t *)place : 0;
    bool is_set = text || number || member->kind == ACTION ||
                  (member->kind == FLAG && *(const bool *)place);

    if (!is_set)
        return;
    cunei_buffer_format(out, ",\"%s\":", member->name);
    if (text)
        put_text(out, text);
    else if (member->kind == ACTION)
        put_text(out, action_names[*(const enum cunei_control_action *)place]);
    else if (member->kind == FLAG)
        cunei_buffer_append_text(out, "true");
    else
        cunei_buffer_format(out, "%" PRIu64, number);
}

static void format(struct cunei_buffer *out, const struct member *members,
                   const void *message)
{
    cunei_buffer_format(out, "{\"cunei\":%d", CUNEI_CONTROL_VERSION);
    for (; members->name; members++)
        put_member(out, members, (const char *)message + members->offset);
    cunei_buffer_append_text(out, "}");
}

void cunei_control_request_format(const struct cunei_control_request *request,
                                  struct cunei_buffer *out)
{
    format(out, request_members, request);
}

void cunei_control_answer_format(const struct cunei_control_answer *answer,
                                 struct cunei_buffer *out)
{
    format(out, answer_members, answer);
}

static int take_number(struct cunei_syntax *syntax, uint64_t *number)
{
    size_t begin = syntax->place;
    int digit;

    *number = 0;
    while ((digit = cunei_syntax_peek(syntax)) >= '0' && digit <= '9') {
        if (*number > NUMBER_MAX)
            return cunei_syntax_fail(syntax, begin, "this number is too large");
        *number = *number * 10 + (uint64_t)(digit - '0');
        syntax->place++;
    }
    return syntax->place > begin ? 0 : cunei_syntax_expected(syntax, "a number");
}

static bool take_word(struct cunei_syntax *syntax, const char *word)
{
    size_t size = strlen(word);

    if (syntax->size - syntax->place < size ||
        memcmp(syntax->text + syntax->place, word, size) != 0)
        return false;
    syntax->place += size;
    return true;
}

static int take_flag(struct cunei_syntax *syntax, bool *flag)
{
    *flag = take_word(syntax, "true");
    return *flag || take_word(syntax, "false")
               ? 0
               : cunei_syntax_expected(syntax, "true or false");
}

/* Owned by the caller; a member that comes twice counts once. */
static int take_text(struct cunei_syntax *syntax, char **text)
{
    struct cunei_buffer buffer = {0};
    int rc = cunei_json_reader_string(syntax, &buffer);
    char *copy = rc == 0 ? strdup(cunei_buffer_text(&buffer)) : NULL;

    cunei_buffer_fini(&buffer);
    if (!copy)
        return rc < 0 ? rc : -ENOMEM;
    free(*text);
    *text = copy;
    return 0;
}

static int take_action(struct cunei_syntax *syntax, enum cunei_control_action *action)
{
    size_t begin = syntax->place;
    char *name = NULL;
    int rc = take_text(syntax, &name);

    for (int i = 0; rc == 0 && i < CUNEI_CONTROL_ACTIONS; i++) {
        if (strcmp(name, action_names[i]) == 0) {
            *action = (enum cunei_control_action)i;
            free(name);
            return 0;
        }
    }
    if (rc == 0)
        rc = cunei_syntax_fail(syntax, begin, "this is not an action of version %d",
                               CUNEI_CONTROL_VERSION);
    free(name);
    return rc;
}

static int take_value(struct cunei_syntax *syntax, const struct member *member,
                      char *place)
{
    switch (member->kind) {
    case NUMBER:
        return take_number(syntax, (uint64_t *)place);
    case FLAG:
        return take_flag(syntax, (bool *)place);
    case TEXT:
        return take_text(syntax, (char **)place);
    case ACTION:
        return take_action(syntax, (enum cunei_control_action *)place);
    }
    return -EINVAL;
}

static const struct member *find_member(const struct member *members, const char *name)
{
    while (members->name && strcmp(members->name, name) != 0)
        members++;
    return members->name ? members : NULL;
}

static int take_member(struct cunei_syntax *syntax, const struct member *members,
                       char *message, uint64_t *version)
{
    struct cunei_buffer key = {0};

    int rc = cunei_json_reader_key(syntax, &key);
    cunei_json_reader_space(syntax);
    const struct member *member = find_member(members, cunei_buffer_text(&key));
    if (rc == 0 && strcmp(cunei_buffer_text(&key), "cunei") == 0)
        rc = take_number(syntax, version);
    else if (rc == 0 && member)
        rc = take_value(syntax, member, message + member->offset);
    else if (rc == 0)
        rc = cunei_json_reader_skip(syntax);
    cunei_buffer_fini(&key);
    return rc;
}

static int parse(const struct member *members, void *message, const char *line,
                 size_t size, struct cunei_syntax_error *error)
{
    struct cunei_syntax syntax = {line, size, 0, error};
    uint64_t version = 0;

    *error = (struct cunei_syntax_error){0};
    cunei_json_reader_space(&syntax);
    if (cunei_syntax_peek(&syntax) != '{')
        return cunei_syntax_expected(&syntax, "a JSON object");
    int rc = cunei_json_reader_first(&syntax, '}');
    while (rc == 1) {
        rc = take_member(&syntax, members, message, &version);
        if (rc == 0)
            rc = cunei_json_reader_next(&syntax, '}');
    }
    cunei_json_reader_space(&syntax);
    if (rc == 0 && version != CUNEI_CONTROL_VERSION)
        return -EPROTO;
    if (rc == 0 && cunei_syntax_peek(&syntax) >= 0)
        rc = cunei_syntax_expected(&syntax, "the end of the line");
    return rc;
}

int cunei_control_request_parse(struct cunei_control_request *request, const char *line,
                                size_t size, struct cunei_syntax_error *error)
{
    *request = (struct cunei_control_request){0};
    int rc = parse(request_members, request, line, size, error);
    if (rc < 0)
        cunei_control_request_fini(request);
    return rc;
}

int cunei_control_answer_parse(struct cunei_control_answer *answer, const char *line,
                               size_t size, struct cunei_syntax_error *error)
{
    *answer = (struct cunei_control_answer){0};
    int rc = parse(answer_members, answer, line, size, error);
    if (rc < 0)
        cunei_control_answer_fini(answer);
    return rc;
}

static void free_texts(const struct member *members, const char *message)
{
    for (; members->name; members++) {
        if (members->kind == TEXT)
            free(*(char *const *)(message + members->offset));
    }
}

void cunei_control_request_fini(struct cunei_control_request *request)
{
    free_texts(request_members, (const char *)request);
    *request = (struct cunei_control_request){0};
}

void cunei_control_answer_fini(struct cunei_control_answer *answer)
{
    free_texts(answer_members, (const char *)answer);
    *answer = (struct cunei_control_answer){0};
}
