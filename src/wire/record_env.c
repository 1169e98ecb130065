// SPDX-License-Identifier: MIT
#include "wire/record_env.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/measure.h"
#include "base/text.h"
#include "wire/ring.h"

#define SESSION_VERSION 1

static void format_text(struct cunei_buffer *out, const char *key, const char *value)
{
    cunei_buffer_format(out, " %s=", key);
    cunei_text_quote(out, value, strlen(value));
}

static void format_patterns(struct cunei_buffer *out,
                            const struct cunei_patterns *patterns, const char *included,
                            const char *excluded)
{
    for (size_t i = 0; i < patterns->count; i++) {
        bool include;
        const char *text = cunei_patterns_text(patterns, i, &include);
        format_text(out, include ? included : excluded, text);
    }
}

int cunei_budget_parse(const char *text, uint64_t *millionths)
{
    double percent;

    if (!cunei_measure_percent(text, CUNEI_RECORD_ENV_BUDGET_LEAST / 1e4,
                               CUNEI_RECORD_ENV_BUDGET_LIMIT / 1e4, &percent))
        return -EINVAL;
    *millionths = (uint64_t)(percent * 1e4 + 0.5);
    return 0;
}

/* A number, or a flag if its member is a bool: one row is all that it needs here. */
struct number {
    const char *key;
    size_t offset, size;
    uint64_t least, limit; /* 0: any number is valid */
};

#define MEMBER(member)                         \
    offsetof(struct cunei_record_env, member), \
        sizeof(((struct cunei_record_env *)NULL)->member)

static const struct number numbers[] = {
    {"device", MEMBER(directory_id.device), 0, 0},
    {"inode", MEMBER(directory_id.inode), 0, 0},
    {"freq", MEMBER(frequency), 0, 0},
    {"max", MEMBER(max_bytes), 0, 0},
    {"keep", MEMBER(keep.size), CUNEI_RING_SIZE_MIN, CUNEI_RING_SIZE_MAX},
    {"keepns", MEMBER(keep.ns), 0, 0},
    {"keepmemory", MEMBER(keep.in_memory), 0, 0},
    {"startup", MEMBER(startup), 0, 0},
    {"arm", MEMBER(arm), 0, 0},
    {"attached", MEMBER(attached), 0, 0},
    {"budget", MEMBER(budget), CUNEI_RECORD_ENV_BUDGET_LEAST,
     CUNEI_RECORD_ENV_BUDGET_LIMIT},
    {"only", MEMBER(only_pid), 0, 0},
    {"socket", MEMBER(launcher.socket), 0, 0},
    {"secret", MEMBER(launcher.secret), 0, 0},
    {"ccalls", MEMBER(c_calls), 0, 0},
    {"repr", MEMBER(full_repr), 0, 0},
    {"maxrepr", MEMBER(max_repr), CUNEI_RECORD_ENV_MAX_REPR_LEAST,
     CUNEI_RECORD_ENV_MAX_REPR_LIMIT},
};

static_assert(sizeof(dev_t) == sizeof(uint64_t) && sizeof(ino_t) == sizeof(uint64_t),
              "a number has eight bytes");

#define NUMBERS (sizeof(numbers) / sizeof(numbers[0]))

static uint64_t get_number(const struct cunei_record_env *session,
                           const struct number *number)
{
    const char *member = (const char *)session + number->offset;
    uint64_t value;

    if (number->size == sizeof(bool))
        return *(const bool *)member;
    memcpy(&value, member, sizeof(value));
    return value;
}

static int set_number(struct cunei_record_env *session, const struct number *number,
                      uint64_t value)
{
    char *member = (char *)session + number->offset;

    if (number->limit > 0 && (value < number->least || value > number->limit))
        return -EINVAL;
    if (number->size == sizeof(bool))
        *(bool *)member = value != 0;
    else
        memcpy(member, &value, sizeof(value));
    return 0;
}

void cunei_record_env_format(const struct cunei_record_env *session,
                             struct cunei_buffer *out)
{
    cunei_buffer_format(out, "v=%d", SESSION_VERSION);
    if (session->directory)
        format_text(out, "dir", session->directory);
    if (session->project)
        format_text(out, "project", session->project);
    for (size_t i = 0; i < NUMBERS; i++) {
        uint64_t value = get_number(session, &numbers[i]);
        if (value > 0)
            cunei_buffer_format(out, " %s=%" PRIu64, numbers[i].key, value);
    }
    if (session->instrumenter != CUNEI_INSTRUMENTER_DEFAULT)
        format_text(out, "instrumenter",
                    cunei_instrumenter_name(session->instrumenter));
    format_patterns(out, &session->patterns, "include", "exclude");
    format_patterns(out, &session->arguments, "args", "args");
    format_patterns(out, &session->results, "return", "return");
    format_patterns(out, &session->lines, "lines", "lines");
}

static int parse_number(const char *text, uint64_t *number)
{
    char *end = NULL;

    if (text[0] < '0' || text[0] > '9')
        return -EINVAL;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno != 0 || *end != '\0')
        return -EINVAL;
    *number = value;
    return 0;
}

/* An absolute path, once. */
static int parse_folder(char **folder, const char *value)
{
    if (value[0] != '/' || *folder)
        return -EINVAL;
    *folder = strdup(value);
    return *folder ? 0 : -ENOMEM;
}

static int parse_word(struct cunei_record_env *session, const char *key,
                      const char *value)
{
    uint64_t number = 0;

    if (strcmp(key, "dir") == 0)
        return parse_folder(&session->directory, value);
    if (strcmp(key, "project") == 0)
        return parse_folder(&session->project, value);
    if (strcmp(key, "include") == 0 || strcmp(key, "exclude") == 0)
        return cunei_patterns_add(&session->patterns, key[0] == 'i', value, NULL, 0);
    if (strcmp(key, "args") == 0)
        return cunei_patterns_add(&session->arguments, true, value, NULL, 0);
    if (strcmp(key, "return") == 0)
        return cunei_patterns_add(&session->results, true, value, NULL, 0);
    if (strcmp(key, "lines") == 0)
        return cunei_patterns_add(&session->lines, true, value, NULL, 0);
    if (strcmp(key, "instrumenter") == 0) {
        session->instrumenter = cunei_instrumenter_find(value);
        return session->instrumenter != CUNEI_INSTRUMENTER_DEFAULT ? 0 : -EINVAL;
    }

    int rc = parse_number(value, &number);
    if (rc < 0)
        return rc;
    if (strcmp(key, "v") == 0)
        return number == SESSION_VERSION ? 0 : -EINVAL;
    for (size_t i = 0; i < NUMBERS; i++) {
        if (strcmp(key, numbers[i].key) == 0)
            return set_number(session, &numbers[i], number);
    }
    return -EINVAL;
}

static int parse_words(struct cunei_record_env *session, char *text)
{
    char *rest = NULL;

    for (char *word = strtok_r(text, " ", &rest); word;
         word = strtok_r(NULL, " ", &rest)) {
        char *value = strchr(word, '=');
        if (!value)
            return -EINVAL;
        *value++ = '\0';
        value[cunei_text_unquote(value, strlen(value))] = '\0';
        int rc = parse_word(session, word, value);
        if (rc < 0)
            return rc;
    }
    return session->directory || session->arm ? 0 : -EINVAL;
}

int cunei_record_env_parse(struct cunei_record_env *session, const char *text)
{
    char *copy = strdup(text);
    if (!copy)
        return -ENOMEM;

    *session = (struct cunei_record_env){0};
    int rc =
        text[0] == '/' ? parse_word(session, "dir", text) : parse_words(session, copy);
    free(copy);
    if (rc < 0)
        cunei_record_env_fini(session);
    return rc;
}

void cunei_record_env_fini(struct cunei_record_env *session)
{
    free(session->directory);
    free(session->project);
    cunei_patterns_fini(&session->patterns);
    cunei_patterns_fini(&session->arguments);
    cunei_patterns_fini(&session->results);
    cunei_patterns_fini(&session->lines);
    *session = (struct cunei_record_env){0};
}
