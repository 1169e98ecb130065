// SPDX-License-Identifier: MIT
#include "base/ecmascript_regex.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/buffer.h"
#include "base/text.h"

struct scanner {
    const char *text;
    size_t place;
    struct cunei_buffer *out;
    const char *problem; /* NULL: none so far */
    unsigned depth;      /* of groups that are open */
    bool has_atom;       /* something that may be repeated stands before */
};

static int fail(struct scanner *scanner, size_t place, const char *problem)
{
    scanner->place = place;
    scanner->problem = problem;
    return -EINVAL;
}

static void put(struct scanner *scanner, const char *text, size_t size)
{
    cunei_buffer_append(scanner->out, text, size);
}

/* `digits` of them at `text`; 0: they are not there, or mean a NUL, which no name has.
 */
static uint32_t hexadecimal(const char *text, int digits)
{
    uint32_t value = 0;

    for (int i = 0; i < digits; i++) {
        if (!isxdigit((unsigned char)text[i]))
            return 0;
        char digit = (char)tolower((unsigned char)text[i]);
        value = value * 16 + (uint32_t)(digit <= '9' ? digit - '0' : digit - 'a' + 10);
    }
    return value;
}

/*
 * The character that an escape stands for, which begins at the backslash and is passed
 * over; 0 bytes: it is not an escape, see `problem`.
 */
static size_t take_character(struct scanner *scanner, char out[4])
{
    static const char letters[] = "tnrfv", meant[] = "\t\n\r\f\v";
    const char *at = scanner->text + scanner->place + 1;
    const char *letter = *at ? strchr(letters, *at) : NULL;

    if (letter) {
        scanner->place += 2;
        out[0] = meant[letter - letters];
        return 1;
    }
    if (*at == 'x' || *at == 'u') {
        int digits = *at == 'x' ? 2 : 4;
        uint32_t point = hexadecimal(at + 1, digits);
        if (point == 0 || (point >= 0xd800 && point < 0xe000)) {
            (void)fail(scanner, scanner->place,
                       "two hexadecimal digits must follow \\x and four \\u, and NUL "
                       "and surrogates are not allowed");
            return 0;
        }
        scanner->place += 2 + (size_t)digits;
        return cunei_text_encode(point, out);
    }
    if (*at == 'c' && isalpha((unsigned char)at[1])) {
        scanner->place += 3;
        out[0] = (char)(at[1] & 0x1f);
        return 1;
    }
    if (*at == '\0' || isalnum((unsigned char)*at)) {
        (void)fail(scanner, scanner->place,
                   *at == '0' ? "\\0 is a NUL, which no name contains"
                   : *at      ? "this escape is not supported; references to groups "
                                "are not either"
                              : "nothing follows the backslash");
        return 0;
    }
    scanner->place += 2;
    out[0] = *at;
    return 1;
}

/* Characters that are special in POSIX get a backslash. */
static void put_literal(struct scanner *scanner, const char *bytes, size_t size)
{
    if (size == 1 && strchr("\\^$.[]|()*+?{}", bytes[0]))
        put(scanner, "\\", 1);
    put(scanner, bytes, size);
}

/* \d, \w and \s; letters are ASCII only, unlike \w of the C library. */
static const struct {
    char letter, other; /* that means what it does not */
    const char *members;
} classes[] = {
    {'d', 'D', "0-9"},
    {'w', 'W', "A-Za-z0-9_"},
    {'s', 'S', "[:space:]"},
};

enum {
    CLASS_COUNT = sizeof(classes) / sizeof(classes[0]),
};

/* The class that a letter behind a backslash means; CLASS_COUNT: none. */
static size_t find_class(char letter)
{
    size_t i = 0;

    while (i < CLASS_COUNT && letter != classes[i].letter && letter != classes[i].other)
        i++;
    return i;
}

/* A backslash outside of brackets. */
static int take_escape(struct scanner *scanner)
{
    char letter = scanner->text[scanner->place + 1];
    size_t class = find_class(letter);
    char bytes[4];

    if (letter == 'b' || letter == 'B') { /* the C library has them as well */
        put(scanner, scanner->text + scanner->place, 2);
        scanner->place += 2;
        scanner->has_atom = false;
        return 0;
    }
    scanner->has_atom = true;
    if (class < CLASS_COUNT) {
        cunei_buffer_format(scanner->out, "[%s%s]",
                            letter == classes[class].other ? "^" : "",
                            classes[class].members);
        scanner->place += 2;
        return 0;
    }
    size_t size = take_character(scanner, bytes);
    if (size == 0)
        return -EINVAL;
    put_literal(scanner, bytes, size);
    return 0;
}

/* What stands in brackets, sorted as POSIX wants it: ']' first, '-' last. */
struct set {
    struct cunei_buffer members;
    bool has_close, has_open, has_caret, has_dash;
    bool others[CLASS_COUNT]; /* \D, \W, \S: sets of their own in POSIX */
    unsigned other_count;
};

static void add_member(struct set *set, const char *bytes, size_t size)
{
    if (size == 1 && bytes[0] == ']')
        set->has_close = true;
    else if (size == 1 && bytes[0] == '[')
        set->has_open = true;
    else if (size == 1 && bytes[0] == '^')
        set->has_caret = true;
    else if (size == 1 && bytes[0] == '-')
        set->has_dash = true;
    else
        cunei_buffer_append(&set->members, bytes, size);
}

/* \d, \D, \w, \W, \s, \S or [:name:]; whether it was one. */
static bool take_class(struct scanner *scanner, struct set *set)
{
    const char *at = scanner->text + scanner->place;

    if (at[0] == '[' && at[1] == ':') {
        const char *end = strstr(at + 2, ":]");
        if (!end)
            return false;
        cunei_buffer_append(&set->members, at, (size_t)(end + 2 - at));
        scanner->place += (size_t)(end + 2 - at);
        return true;
    }
    size_t i = at[0] == '\\' ? find_class(at[1]) : CLASS_COUNT;
    if (i == CLASS_COUNT)
        return false;
    if (at[1] == classes[i].letter) {
        cunei_buffer_append_text(&set->members, classes[i].members);
    } else {
        set->other_count += !set->others[i];
        set->others[i] = true;
    }
    scanner->place += 2;
    return true;
}

/* One character of a set, escaped or not; 0 bytes: see `problem`. */
static size_t take_member(struct scanner *scanner, char bytes[4])
{
    const char *at = scanner->text + scanner->place;

    if (at[0] == '\\' && at[1] && strchr("dDwWsSbB", at[1])) {
        (void)fail(scanner, scanner->place, "this escape is not supported there");
        return 0;
    }
    if (at[0] == '[' && at[1] && strchr("=.", at[1])) {
        (void)fail(scanner, scanner->place,
                   "[=…=] and [.….] are not supported; write \\[ for a '['");
        return 0;
    }
    if (at[0] == '\\')
        return take_character(scanner, bytes);
    bytes[0] = at[0];
    scanner->place++;
    return 1;
}

/* Whether it is one byte, and not special in POSIX brackets. */
static bool is_end_of_range(char byte)
{
    return byte > 0 && !strchr("[]^-\\", byte);
}

/* A member, or a range of them. */
static int take_range(struct scanner *scanner, struct set *set)
{
    const size_t begin = scanner->place;
    char first[4], last[4];

    size_t size = take_member(scanner, first);
    if (size == 0)
        return -EINVAL;
    const char *at = scanner->text + scanner->place;
    if (at[0] != '-' || at[1] == ']' || at[1] == '\0') {
        add_member(set, first, size);
        return 0;
    }
    scanner->place++;
    size_t last_size = take_member(scanner, last);
    if (last_size == 0)
        return -EINVAL;
    if (size != 1 || last_size != 1 || !is_end_of_range(first[0]) ||
        !is_end_of_range(last[0]) || first[0] > last[0])
        return fail(scanner, begin,
                    "a range needs two plain characters, the smaller one first");
    cunei_buffer_append(&set->members, first, 1);
    cunei_buffer_append(&set->members, "-", 1);
    cunei_buffer_append(&set->members, last, 1);
    return 0;
}

/* The content of brackets without \D, \W and \S. */
static void put_members(struct scanner *scanner, const struct set *set, bool is_negated)
{
    /* A caret that would come first would negate. */
    if (set->has_caret && !is_negated && !set->has_close && !set->has_open &&
        set->members.size == 0) {
        cunei_buffer_append_text(scanner->out, set->has_dash ? "[-^]" : "\\^");
        return;
    }
    cunei_buffer_append_text(scanner->out, is_negated ? "[^" : "[");
    put(scanner, "]", set->has_close);
    put(scanner, cunei_buffer_text(&set->members), set->members.size);
    /* Behind the members: with '.', ':' or '=' it would begin something. */
    put(scanner, "[", set->has_open);
    put(scanner, "^", set->has_caret);
    put(scanner, "-", set->has_dash);
    put(scanner, "]", 1);
}

static bool has_members(const struct set *set)
{
    return set->members.size > 0 || set->has_close || set->has_open || set->has_caret ||
           set->has_dash;
}

/* [x\D] is ([x]|[^0-9]), [^\D] is [0-9]; -EINVAL: POSIX cannot express it. */
static int put_set(struct scanner *scanner, const struct set *set, bool is_negated)
{
    const char *separator = "(";

    if (set->other_count == 0) {
        put_members(scanner, set, is_negated);
        return 0;
    }
    if (is_negated && (set->other_count > 1 || has_members(set)))
        return -EINVAL;
    for (size_t i = 0; i < CLASS_COUNT; i++) {
        if (!set->others[i])
            continue;
        cunei_buffer_format(scanner->out, "%s[%s%s]", separator, is_negated ? "" : "^",
                            classes[i].members);
        separator = "|";
    }
    if (has_members(set)) {
        put(scanner, separator, 1);
        put_members(scanner, set, false);
    }
    put(scanner, ")", 1);
    return 0;
}

static int take_set(struct scanner *scanner)
{
    const size_t begin = scanner->place++;
    struct set set = {0};
    int rc = 0;

    bool is_negated = scanner->text[scanner->place] == '^';
    scanner->place += is_negated;
    while (rc == 0 && scanner->text[scanner->place] != ']') {
        if (scanner->text[scanner->place] == '\0')
            rc = fail(scanner, begin, "this '[' has no ']'");
        else if (!take_class(scanner, &set))
            rc = take_range(scanner, &set);
    }
    bool is_empty = scanner->place == begin + 1 + is_negated;
    if (rc == 0 && is_empty && !is_negated)
        rc = fail(scanner, begin, "there is nothing between the brackets");
    if (rc == 0 && is_empty)
        put(scanner, ".", 1); /* [^] is any character, and so it is to POSIX */
    else if (rc == 0 && put_set(scanner, &set, is_negated) < 0)
        rc = fail(scanner, begin, "in [^…], \\D, \\W or \\S must be the only item");
    if (rc == 0) {
        scanner->place++;
        scanner->has_atom = true;
    }
    scanner->out->failed |= set.members.failed;
    cunei_buffer_fini(&set.members);
    return rc;
}

static int open_group(struct scanner *scanner)
{
    const char *at = scanner->text + scanner->place;

    if (at[1] == '?' && at[2] != ':')
        return fail(scanner, scanner->place,
                    "(?:…) is the only supported group that begins with (?");
    put(scanner, "(", 1);
    scanner->place += at[1] == '?' ? 3 : 1;
    scanner->depth++;
    scanner->has_atom = false;
    return 0;
}

static int close_group(struct scanner *scanner)
{
    if (scanner->depth == 0)
        return fail(scanner, scanner->place, "this ')' has no '('");
    scanner->depth--;
    put(scanner, ")", 1);
    scanner->place++;
    scanner->has_atom = true;
    return 0;
}

/* The length of {n}, {n,} or {n,m} with at most three digits each; 0: it is not one. */
static size_t measure_braces(const char *text)
{
    size_t first = strspn(text + 1, "0123456789");
    size_t size = 1 + first;

    if (first == 0 || first > 3)
        return 0;
    if (text[size] == ',') {
        size_t second = strspn(text + size + 1, "0123456789");
        if (second > 3)
            return 0;
        size += 1 + second;
    }
    return text[size] == '}' ? size + 1 : 0;
}

static int take_repetition(struct scanner *scanner)
{
    const char *at = scanner->text + scanner->place;
    size_t size = at[0] == '{' ? measure_braces(at) : 1;

    if (!scanner->has_atom)
        return fail(scanner, scanner->place, "there is nothing to repeat before it");
    if (size == 0)
        return fail(scanner, scanner->place,
                    "braces need {n}, {n,} or {n,m}, each below 1000; write \\{ for "
                    "a literal one");
    put(scanner, at, size);
    scanner->place += size;
    if (scanner->text[scanner->place] == '?') /* lazy: it finds the same */
        scanner->place++;
    scanner->has_atom = false;
    return 0;
}

static int take(struct scanner *scanner)
{
    char character = scanner->text[scanner->place];

    switch (character) {
    case '\\':
        return take_escape(scanner);
    case '[':
        return take_set(scanner);
    case '(':
        return open_group(scanner);
    case ')':
        return close_group(scanner);
    case '*':
    case '+':
    case '?':
    case '{':
        return take_repetition(scanner);
    case '}':
    case ']':
        put(scanner, "\\", 1);
        break;
    default:
        break;
    }
    put(scanner, &character, 1);
    scanner->place++;
    scanner->has_atom = character != '|' && character != '^' && character != '$';
    return 0;
}

int cunei_ecmascript_regex_translate(const char *text, struct cunei_buffer *out,
                                     size_t *place, const char **problem)
{
    struct scanner scanner = {.text = text, .out = out};
    int rc = 0;

    while (rc == 0 && text[scanner.place])
        rc = take(&scanner);
    if (rc == 0 && scanner.depth > 0)
        rc = fail(&scanner, scanner.place, "a '(' has no ')'");
    if (rc < 0) {
        *place = scanner.place;
        *problem = scanner.problem;
        return rc;
    }
    return out->failed ? -ENOMEM : 0;
}
