// SPDX-License-Identifier: MIT
#include "wire/record_env.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
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
    char *end = NULL;

    /* strtod accepts more than a plain number. */
    if (text[0] < '0' || text[0] > '9' || text[strspn(text, "0123456789.")] == 'x')
        return -EINVAL;
    double percent = strtod(text, &end);
    while (*end == ' ')
        end++;
    if (*end == '%')
        end++;
    double wanted = percent * 1e4 + 0.5;
    if (*end != '\0' || !(wanted >= CUNEI_RECORD_ENV_BUDGET_LEAST) ||
        wanted > CUNEI_RECORD_ENV_BUDGET_LIMIT + 1)
        return -EINVAL;
    *millionths = (uint64_t)wanted;
    return 0;
}

void cunei_record_env_format(const struct cunei_record_env *session,
                             struct cunei_buffer *out)
{
    cunei_buffer_format(out, "v=%d", SESSION_VERSION);
    if (session->directory)
        format_text(out, "dir", session->directory);
    if (session->directory_id.inode)
        cunei_buffer_format(out, " device=%" PRIu64 " inode=%" PRIu64,
                            (uint64_t)session->directory_id.device,
                            (uint64_t)session->directory_id.inode);
    if (session->project)
        format_text(out, "project", session->project);
    if (session->frequency)
        cunei_buffer_format(out, " freq=%" PRIu64, session->frequency);
    if (session->max_bytes)
        cunei_buffer_format(out, " max=%" PRIu64, session->max_bytes);
    if (session->keep.size)
        cunei_buffer_format(out, " keep=%" PRIu64, session->keep.size);
    if (session->keep.ns)
        cunei_buffer_format(out, " keepns=%" PRIu64, session->keep.ns);
    if (session->keep.in_memory)
        cunei_buffer_append_text(out, " keepmemory=1");
    if (session->startup)
        cunei_buffer_append_text(out, " startup=1");
    if (session->arm)
        cunei_buffer_append_text(out, " arm=1");
    if (session->attached)
        cunei_buffer_append_text(out, " attached=1");
    if (session->budget)
        cunei_buffer_format(out, " budget=%" PRIu64, session->budget);
    if (session->only_pid)
        cunei_buffer_format(out, " only=%" PRIu64, session->only_pid);
    if (session->launcher.secret)
        cunei_buffer_format(out, " socket=%" PRIu64 " secret=%" PRIu64,
                            session->launcher.socket, session->launcher.secret);
    if (session->c_calls)
        cunei_buffer_append_text(out, " ccalls=1");
    if (session->full_repr)
        cunei_buffer_append_text(out, " repr=1");
    if (session->max_repr)
        cunei_buffer_format(out, " maxrepr=%" PRIu64, session->max_repr);
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
    if (strcmp(key, "freq") == 0)
        session->frequency = number;
    else if (strcmp(key, "max") == 0)
        session->max_bytes = number;
    else if (strcmp(key, "keep") == 0 && number >= CUNEI_RING_SIZE_MIN &&
             number <= CUNEI_RING_SIZE_MAX)
        session->keep.size = number;
    else if (strcmp(key, "keepns") == 0)
        session->keep.ns = number;
    else if (strcmp(key, "keepmemory") == 0)
        session->keep.in_memory = number != 0;
    else if (strcmp(key, "startup") == 0)
        session->startup = number != 0;
    else if (strcmp(key, "arm") == 0)
        session->arm = number != 0;
    else if (strcmp(key, "attached") == 0)
        session->attached = number != 0;
    else if (strcmp(key, "only") == 0)
        session->only_pid = number;
    else if (strcmp(key, "device") == 0)
        session->directory_id.device = number;
    else if (strcmp(key, "inode") == 0)
        session->directory_id.inode = number;
    else if (strcmp(key, "socket") == 0)
        session->launcher.socket = number;
    else if (strcmp(key, "secret") == 0)
        session->launcher.secret = number;
    else if (strcmp(key, "ccalls") == 0)
        session->c_calls = number != 0;
    else if (strcmp(key, "repr") == 0)
        session->full_repr = number != 0;
    else if (strcmp(key, "budget") == 0 && number >= CUNEI_RECORD_ENV_BUDGET_LEAST &&
             number <= CUNEI_RECORD_ENV_BUDGET_LIMIT)
        session->budget = number;
    else if (strcmp(key, "maxrepr") == 0 && number >= CUNEI_RECORD_ENV_MAX_REPR_LEAST &&
             number <= CUNEI_RECORD_ENV_MAX_REPR_LIMIT)
        session->max_repr = number;
    else
        return -EINVAL;
    return 0;
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
