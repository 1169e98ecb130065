// SPDX-License-Identifier: MIT
#include "analysis/function_matching.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/cprofile_label.h"
#include "base/vector.h"

#define NO_MEMORY UINT32_MAX
#define SEVERAL   UINT32_MAX
#define BUILT_IN  "<built-in method "

static struct cunei_matched_function *item_of(struct cunei_function_matching *matching,
                                              uint32_t number)
{
    return &matching->items[number - 1];
}

static bool copy_names(struct cunei_matched_function *item,
                       const struct cunei_function *names)
{
    item->module = strdup(names->module);
    item->qualname = strdup(names->qualname);
    item->file = strdup(names->file);
    item->line = names->line;
    return item->module && item->qualname && item->file;
}

/* A new function; its number plus one. */
static uint32_t add_function(struct cunei_function_matching *matching,
                             const struct cunei_function *names)
{
    if (!CUNEI_VECTOR_RESERVE(matching->items, matching->capacity, matching->count + 1))
        return NO_MEMORY;
    struct cunei_matched_function *item = &matching->items[matching->count++];
    *item = (struct cunei_matched_function){0};
    return copy_names(item, names) ? matching->count : NO_MEMORY;
}

/* The same at the end of a group. */
static uint32_t add_to_group(struct cunei_function_matching *matching, uint32_t *first,
                             const struct cunei_function *names)
{
    uint32_t added = add_function(matching, names);

    if (added == NO_MEMORY)
        return added;
    if (*first == 0) {
        *first = added;
        item_of(matching, added)->free[0] = added;
        item_of(matching, added)->free[1] = added;
    } else {
        struct cunei_matched_function *head = item_of(matching, *first);
        item_of(matching, head->last)->next = added;
        for (unsigned i = 0; i < 2; i++)
            head->free[i] = head->free[i] ? head->free[i] : added;
    }
    item_of(matching, *first)->last = added;
    return added;
}

/* The place that distinguishes functions of the same name: folders may differ. */
static struct cunei_function place_of(const struct cunei_function *function)
{
    const char *slash = strrchr(function->file, '/');

    return (struct cunei_function){.module = function->module,
                                   .qualname = function->qualname,
                                   .file = slash ? slash + 1 : function->file,
                                   .line = function->line};
}

uint32_t cunei_function_matching_find(struct cunei_function_matching *matching,
                                      unsigned side,
                                      const struct cunei_function *function)
{
    struct cunei_function place = place_of(function);
    uint32_t *own = cunei_function_map_find(&matching->places[side], &place);
    uint32_t *other = cunei_function_map_find(&matching->places[!side], &place);

    if (!own || !other)
        return NO_MEMORY;
    if (*own == 0 && *other > 0 && !item_of(matching, *other)->is_placed[side]) {
        *own = *other;
        item_of(matching, *own)->is_placed[side] = true;
    }
    return *own;
}

uint32_t cunei_function_matching_next(struct cunei_function_matching *matching,
                                      unsigned side,
                                      const struct cunei_function *function)
{
    const struct cunei_function names = {
        .module = function->module, .qualname = function->qualname, .file = ""};
    struct cunei_function place = place_of(function);
    uint32_t *first = cunei_function_map_find(&matching->groups, &names);
    uint32_t *own = cunei_function_map_find(&matching->places[side], &place);

    if (!first || !own)
        return NO_MEMORY;
    if (*own > 0) /* another folder of the run has it in such a place */
        return *own;
    uint32_t number = *first ? item_of(matching, *first)->free[side] : 0;
    while (number > 0 && item_of(matching, number)->is_placed[side])
        number = item_of(matching, number)->next;
    if (*first)
        item_of(matching, *first)->free[side] = number;
    if (number == 0)
        number = add_to_group(matching, first, function);
    if (number == NO_MEMORY)
        return number;
    item_of(matching, number)->is_placed[side] = true;
    *own = number;
    return number;
}

static bool is_end_of(const char *end, const char *path)
{
    size_t size = strlen(end), path_size = strlen(path);

    return size > 0 && size < path_size && path[path_size - size - 1] == '/' &&
           strcmp(path + path_size - size, end) == 0;
}

/* A relative name without its first dots: ./a/b.py and ../a/b.py are a/b.py. */
static const char *skip_dots(const char *path)
{
    while (strncmp(path, "./", 2) == 0 || strncmp(path, "../", 3) == 0)
        path += path[1] == '/' ? 2 : 3;
    return path;
}

/* Whether one is relative and the other an absolute name that ends with it. */
static bool could_be(const char *file, const char *other)
{
    const char *relative = file[0] == '/' ? other : file;
    const char *absolute = file[0] == '/' ? file : other;

    return relative[0] != '/' && absolute[0] == '/' &&
           is_end_of(skip_dots(relative), absolute);
}

/* The one of the same file, else of the shortest that matches. */
static uint32_t find_file(struct cunei_function_matching *matching, uint32_t first,
                          const char *file)
{
    uint32_t best = 0;

    for (uint32_t number = first; number > 0;) {
        const struct cunei_matched_function *item = item_of(matching, number);
        if (strcmp(item->file, file) == 0)
            return number;
        if (could_be(file, item->file) &&
            (best == 0 || strlen(item->file) < strlen(item_of(matching, best)->file)))
            best = number;
        number = item->next;
    }
    return best;
}

static const char all_new[] = BUILT_IN "__new__>";
static const struct cunei_function new_names = {
    .module = "builtins", .qualname = "__new__", .file = ""};

/* All types' __new__ are one function for cProfile, with an address in its name. */
static struct cunei_function settle(const struct cunei_function *label)
{
    static const char one_new[] = BUILT_IN "__new__ of ",
                      own_new[] = "<method '__new__' ";
    struct cunei_function settled = *label;

    if (strcmp(label->file, "~") != 0)
        return settled;
    if (strncmp(label->qualname, one_new, sizeof(one_new) - 1) == 0 ||
        strncmp(label->qualname, own_new, sizeof(own_new) - 1) == 0)
        settled.qualname = all_new;
    return settled;
}

/* cProfile's name of class methods and static methods, which has no type. */
static int add_alias(struct cunei_function_matching *matching,
                     const struct cunei_function *function, uint32_t number)
{
    const char *dot = strrchr(function->qualname, '.');

    if (function->file[0] || !dot)
        return 0;
    cunei_buffer_clear(&matching->text);
    cunei_buffer_format(&matching->text, BUILT_IN "%s>", dot + 1);
    if (matching->text.failed)
        return -1;
    const struct cunei_function alias = {
        .module = "", .qualname = matching->text.data, .file = ""};
    uint32_t *found = cunei_function_map_find(&matching->aliases, &alias);
    if (!found)
        return -1;
    *found = *found == 0 || *found == number ? number : SEVERAL;
    return 0;
}

/* A function that only a cProfile file has. */
static uint32_t add_unknown(struct cunei_function_matching *matching, uint32_t *first,
                            const struct cunei_function *label)
{
    const struct cunei_function alias = {
        .module = "", .qualname = label->qualname, .file = ""};

    if (strcmp(label->file, "~") == 0) {
        uint32_t *found = cunei_function_map_find(&matching->aliases, &alias);
        if (!found)
            return NO_MEMORY;
        if (*found > 0 && *found != SEVERAL)
            return *found;
    }
    struct cunei_function names = cunei_label_parse(label, &matching->text);
    return add_to_group(matching, first, &names);
}

uint32_t cunei_function_matching_label(struct cunei_function_matching *matching,
                                       const struct cunei_function *label,
                                       const struct cunei_function *function)
{
    struct cunei_function settled = settle(label);
    const struct cunei_function key = {
        .module = "", .qualname = settled.qualname, .file = "", .line = settled.line};
    bool is_c = strcmp(label->file, "~") == 0;
    uint32_t *first = cunei_function_map_find(&matching->groups, &key);

    if (!first)
        return NO_MEMORY;
    /* A group of C functions has one item, because they have no file. */
    uint32_t number = is_c ? *first : find_file(matching, *first, label->file);
    if (number == 0 && settled.qualname == all_new)
        return add_to_group(matching, first, &new_names);
    if (number == 0 && !function)
        return add_unknown(matching, first, &settled);
    if (number == 0)
        number = add_to_group(matching, first, function);
    if (number != NO_MEMORY && function && add_alias(matching, function, number) < 0)
        return NO_MEMORY;
    return number;
}

void cunei_function_matching_fini(struct cunei_function_matching *matching)
{
    for (uint32_t i = 0; i < matching->count; i++) {
        free(matching->items[i].module);
        free(matching->items[i].qualname);
        free(matching->items[i].file);
    }
    free(matching->items);
    cunei_function_map_fini(&matching->groups);
    cunei_function_map_fini(&matching->places[0]);
    cunei_function_map_fini(&matching->places[1]);
    cunei_function_map_fini(&matching->aliases);
    cunei_buffer_fini(&matching->text);
    *matching = (struct cunei_function_matching){0};
}
