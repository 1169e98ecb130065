// SPDX-License-Identifier: MIT
#include "base/glob.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#include "base/text.h"

enum {
    BEYOND_UNICODE = 0x110000, /* bytes that are no UTF-8 are from here on */
};

static const struct {
    const char *name;
    int (*has)(int character);
} classes[] = {
    {"[:alnum:]", isalnum}, {"[:alpha:]", isalpha}, {"[:blank:]", isblank},
    {"[:cntrl:]", iscntrl}, {"[:digit:]", isdigit}, {"[:graph:]", isgraph},
    {"[:lower:]", islower}, {"[:print:]", isprint}, {"[:punct:]", ispunct},
    {"[:space:]", isspace}, {"[:upper:]", isupper}, {"[:xdigit:]", isxdigit},
};

/* The character at `*at`, which is before `end`, and is passed over. */
static uint32_t take(const char **at, const char *end)
{
    uint32_t point = BEYOND_UNICODE + (unsigned char)**at;
    size_t length = cunei_text_decode(*at, (size_t)(end - *at), &point);

    *at += length ? length : 1;
    return point;
}

/* The same, where a backslash makes the next character literal. */
static uint32_t take_plain(const char **at, const char *end)
{
    if (**at == '\\' && *at + 1 < end)
        ++*at;
    return take(at, end);
}

/* The length of the class at `at`, and whether it contains the character; 0: it is not
 * a class. */
static size_t take_class(const char *at, uint32_t character, bool *has)
{
    for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
        size_t size = strlen(classes[i].name);
        if (strncmp(at, classes[i].name, size) == 0) {
            *has |= character < 0x80 && classes[i].has((int)character);
            return size;
        }
    }
    return 0;
}

static bool begins_class(const char *at)
{
    return at[0] == '[' && (at[1] == ':' || at[1] == '=' || at[1] == '.');
}

/*
 * The set behind a '[': where it ends, NULL if it does not, and whether it has the
 * character.  `problem` is set where it has something that it should not.
 */
static const char *take_set(const char *at, const char *end, uint32_t character,
                            bool *has, const char **problem)
{
    bool is_negated = *at == '!' || *at == '^';
    bool is_found = false;

    at += is_negated;
    for (const char *first = at; at < end && (*at != ']' || at == first);) {
        size_t size = take_class(at, character, &is_found);
        at += size;
        if (size > 0)
            continue;
        if (begins_class(at))
            *problem = "in brackets, only classes such as [:alpha:] may follow a '['; "
                       "write \\[ for a literal one";
        uint32_t low = take_plain(&at, end), high = low;
        if (end - at >= 2 && at[0] == '-' && at[1] != ']') {
            at++;
            high = take_plain(&at, end);
        }
        if (low > high)
            *problem = "a range in brackets needs the smaller character first";
        is_found |= low <= character && character <= high;
    }
    *has = is_found != is_negated;
    return at < end ? at + 1 : NULL;
}

/* The rest of the glob after its first item, if that matches the character; or NULL. */
static const char *match_one(const char *glob, const char *end, uint32_t character)
{
    const char *problem = NULL;
    bool has = false;

    if (glob == end)
        return NULL;
    if (*glob == '?')
        return glob + 1;
    const char *behind =
        *glob == '[' ? take_set(glob + 1, end, character, &has, &problem) : NULL;
    if (behind)
        return has ? behind : NULL;
    return take_plain(&glob, end) == character ? glob : NULL;
}

bool cunei_glob_matches_part(const char *glob, const char *text, size_t size)
{
    const char *glob_end = glob + strlen(glob), *text_end = text + size;
    /* Behind the last '*', and the first character that it has not taken. */
    const char *star = NULL, *rest = NULL;

    while (text < text_end) {
        const char *next = text;
        if (*glob == '*') {
            star = ++glob;
            rest = text;
            continue;
        }
        const char *behind = match_one(glob, glob_end, take(&next, text_end));
        if (behind) {
            glob = behind;
            text = next;
        } else if (star) {
            (void)take(&rest, text_end);
            glob = star;
            text = rest;
        } else {
            return false;
        }
    }
    return glob[strspn(glob, "*")] == '\0';
}

bool cunei_glob_matches(const char *glob, const char *text)
{
    return cunei_glob_matches_part(glob, text, strlen(text));
}

const char *cunei_glob_check(const char *glob)
{
    const char *end = glob + strlen(glob), *problem = NULL;
    bool has = false;

    while (glob && glob < end && !problem) {
        if (*glob == '\\' && glob + 1 == end)
            problem = "nothing follows the backslash";
        if (*glob == '[')
            glob = take_set(glob + 1, end, 0, &has, &problem);
        else
            (void)take_plain(&glob, end);
    }
    return glob ? problem : "a '[' has no ']'; write \\[ for a literal one";
}
