// SPDX-License-Identifier: MIT
#include "base/regex_cost.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum {
    MAX_DEPTH = 100,
    MAX_WORK = 20000,   /* which takes about half a second at most */
    MAX_DOUBLINGS = 15, /* pass that */
    /* Measured with glibc 2.36. */
    BYTES_EACH = 4096, /* of any expression */
    BYTES_PER_ITEM = 512,
    BYTES_PER_PAIR = 8, /* of choices */
};

#define SATURATED ((uint64_t)1 << 24)

/* The size of a part of the expression when its repetitions are written out. */
struct part {
    uint64_t items;      /* characters, sets, groups */
    uint64_t choices;    /* alternatives and repetitions */
    uint64_t chain;      /* the most of them that can follow each other */
    uint64_t ways;       /* to pass anchors; 1: it has none */
    bool can_be_empty;   /* it matches the empty string */
    bool has_empty_loop; /* it repeats such a part without end */
};

/* An open group, or the whole expression. */
struct group {
    struct part all;    /* the alternatives so far */
    struct part branch; /* the current alternative, without its last atom */
};

struct scanner {
    const char *at;
    struct part atom; /* the last one, which a repetition would repeat */
    struct group groups[MAX_DEPTH + 1];
    unsigned depth;
    uint64_t work; /* of the alternatives outside of groups so far */
};

static const struct part nothing = {.ways = 1, .can_be_empty = true};
static const struct part item = {.items = 1, .ways = 1};
static const struct part anchor = {.items = 1, .ways = 2, .can_be_empty = true};
static const struct group empty_group = {.all = {.ways = 1},
                                         .branch = {.ways = 1, .can_be_empty = true}};

static uint64_t saturate(uint64_t number)
{
    return number < SATURATED ? number : SATURATED;
}

static struct part sequence(struct part first, struct part second)
{
    return (struct part){
        .items = saturate(first.items + second.items),
        .choices = saturate(first.choices + second.choices),
        .chain = saturate(first.chain + second.chain),
        .ways = saturate(first.ways * second.ways),
        .can_be_empty = first.can_be_empty && second.can_be_empty,
        .has_empty_loop = first.has_empty_loop || second.has_empty_loop,
    };
}

/* `first`: all alternatives before the second one. */
static struct part alternative(struct part first, struct part second)
{
    const uint64_t chain = second.chain + 1;

    return (struct part){
        .items = saturate(first.items + second.items),
        .choices = saturate(first.choices + second.choices + 1),
        .chain = saturate(chain > first.chain ? chain : first.chain),
        .ways = saturate(first.ways + second.ways - 1),
        .can_be_empty = first.can_be_empty || second.can_be_empty,
        .has_empty_loop = first.has_empty_loop || second.has_empty_loop,
    };
}

/*
 * The C library copies all choices that follow an anchor, and walks every path to a
 * loop that can be empty: twice as many for each choice, about 16 times for an anchor.
 */
static uint64_t work_of(const struct part *branch)
{
    const uint64_t anchored = branch->ways - 1;
    const uint64_t chain = branch->chain < MAX_WORK ? branch->chain : MAX_WORK;
    const uint64_t doublings = branch->choices + 4 * anchored;
    uint64_t work = anchored * (1 + chain * chain);

    if (branch->has_empty_loop)
        work += doublings < MAX_DOUBLINGS ? (uint64_t)1 << doublings : MAX_WORK + 1;
    return work;
}

static void add_atom(struct scanner *scanner, struct part atom)
{
    struct group *group = &scanner->groups[scanner->depth];

    group->branch = sequence(group->branch, scanner->atom);
    scanner->atom = atom;
}

static void end_branch(struct scanner *scanner)
{
    struct group *group = &scanner->groups[scanner->depth];

    add_atom(scanner, nothing);
    if (scanner->depth == 0)
        scanner->work = saturate(scanner->work + work_of(&group->branch));
    group->all = alternative(group->all, group->branch);
    group->branch = nothing;
}

static void open_group(struct scanner *scanner)
{
    add_atom(scanner, nothing);
    scanner->groups[++scanner->depth] = empty_group;
}

static void close_group(struct scanner *scanner)
{
    end_branch(scanner);
    scanner->atom = scanner->groups[scanner->depth--].all;
    scanner->atom.items = saturate(scanner->atom.items + 1);
    scanner->atom.choices--; /* n alternatives are n - 1 choices */
}

/* The atom from `least` to `most` times, and behind it a loop of it. */
static void repeat(struct scanner *scanner, uint64_t least, uint64_t most,
                   bool has_loop)
{
    const struct part once = scanner->atom;
    const uint64_t copies = most + has_loop;
    const uint64_t choices = copies - (once.can_be_empty ? 0 : least);
    uint64_t ways = 1;

    for (uint64_t i = 0; once.ways > 1 && i < copies && ways < SATURATED; i++)
        ways *= once.ways;
    scanner->atom = (struct part){
        .items = saturate(once.items * copies),
        .choices = saturate(once.choices * copies + choices),
        .chain = saturate(once.chain * copies + choices),
        .ways = saturate(ways),
        .can_be_empty = once.can_be_empty || least == 0,
        .has_empty_loop = once.has_empty_loop || (has_loop && once.can_be_empty),
    };
}

static uint64_t take_number(const char **at)
{
    uint64_t number = 0;

    for (; **at >= '0' && **at <= '9'; ++*at)
        number = saturate(number * 10 + (uint64_t)(**at - '0'));
    return number;
}

/* {n}, {n,}, {n,m} or {,m}; anything else is a syntax error. */
static void take_braces(struct scanner *scanner)
{
    const char *end = scanner->at + 1;
    uint64_t least = take_number(&end), most = least;
    bool has_loop = false;

    if (*end == ',') {
        const char *second = ++end;
        most = take_number(&end);
        has_loop = end == second;
    }
    if (has_loop || most < least)
        most = least;
    if (*end == '}')
        repeat(scanner, least, most, has_loop);
    scanner->at = *end == '}' ? end + 1 : scanner->at + 1;
}

/* A bracket expression; the end of the text if it has no ']'. */
static void take_set(struct scanner *scanner)
{
    const char *at = scanner->at + 1;

    at += *at == '^';
    at += *at == ']';
    while (*at && *at != ']') {
        if (at[0] != '[' || at[1] == '\0' || !strchr(":=.", at[1])) {
            at++;
            continue;
        }
        const char close[] = {at[1], ']', '\0'};
        const char *end = strstr(at + 2, close);
        at = end ? end + 2 : at + strlen(at);
    }
    scanner->at = at + (*at == ']');
    add_atom(scanner, item);
}

/* NULL, or why the escape is refused. */
static const char *take_escape(struct scanner *scanner)
{
    const char letter = scanner->at[1];

    if (letter >= '1' && letter <= '9')
        return "references to groups, such as \\1, are not supported; write the group "
               "again";
    scanner->at += letter ? 2 : 1;
    add_atom(scanner, letter && strchr("bB<>`'", letter) ? anchor : item);
    return NULL;
}

/* NULL, or why the expression is refused at this place. */
static const char *take(struct scanner *scanner)
{
    const char character = *scanner->at;

    switch (character) {
    case '\\':
        return take_escape(scanner);
    case '[':
        take_set(scanner);
        return NULL;
    case '{':
        take_braces(scanner);
        return NULL;
    case '(':
        if (scanner->depth == MAX_DEPTH)
            return "more than 100 groups are inside each other; use fewer";
        open_group(scanner);
        break;
    case ')':
        if (scanner->depth > 0)
            close_group(scanner);
        else
            add_atom(scanner, item);
        break;
    case '|':
        end_branch(scanner);
        break;
    case '*':
    case '+':
        repeat(scanner, character == '+', character == '+', true);
        break;
    case '?':
        repeat(scanner, 0, 1, false);
        break;
    default:
        add_atom(scanner, character == '^' || character == '$' ? anchor : item);
        break;
    }
    scanner->at++;
    return NULL;
}

const char *cunei_regex_cost(const char *expression, size_t *bytes)
{
    struct scanner scanner = {
        .at = expression, .atom = nothing, .groups[0] = empty_group};

    while (*scanner.at) {
        const char *problem = take(&scanner);
        if (problem)
            return problem;
    }
    while (scanner.depth > 0)
        close_group(&scanner);
    end_branch(&scanner);
    const struct part *all = &scanner.groups[0].all;
    if (scanner.work > MAX_WORK)
        return "it takes too long; use fewer ^, $ and \\b, and repeat no group that "
               "can be empty";
    uint64_t size = BYTES_EACH + all->items * BYTES_PER_ITEM +
                    all->choices * all->choices * BYTES_PER_PAIR;
    if (size > CUNEI_REGEX_MAX_BYTES)
        return CUNEI_REGEX_TOO_LARGE;
    *bytes = size;
    return NULL;
}
