// SPDX-License-Identifier: MIT
#include "top/sums/known.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/text.h"
#include "base/vector.h"
#include "model/facts/call_edges.h"
#include "model/facts/call_tree.h"
#include "model/facts/waiting_functions.h"
#include "text/names.h"
#include "wire/user_event.h"

int cunei_top_known_init(struct cunei_top_known *known)
{
    *known =
        (struct cunei_top_known){.tree = cunei_tree_new(), .edges = cunei_edges_new()};
    if (known->tree && known->edges)
        return 0;
    cunei_top_known_fini(known);
    return -ENOMEM;
}

static void name_fini(struct cunei_top_name *name)
{
    free(name->name);
    free(name->place);
    free(name->class);
}

static void free_texts(struct cunei_function *function)
{
    /* Texts of items are borrowed everywhere else: hence const. */
    free((char *)(uintptr_t)function->module);
    free((char *)(uintptr_t)function->qualname);
    free((char *)(uintptr_t)function->file);
}

void cunei_top_known_fini(struct cunei_top_known *known)
{
    for (uint32_t i = 0; i < known->functions.count; i++) {
        name_fini(&known->names[i]);
        free_texts(&known->functions.items[i]);
    }
    free(known->names);
    cunei_functions_fini(&known->functions);
    cunei_tree_free(known->tree);
    cunei_edges_free(known->edges);
    cunei_top_keys_fini(&known->processes);
    cunei_top_keys_fini(&known->threads);
    free(known->thread_events);
    cunei_top_keys_fini(&known->raises);
    *known = (struct cunei_top_known){0};
}

/* The buffer's text, safe to print, owned by the caller; NULL: no memory. */
static char *take_safe(struct cunei_buffer *text)
{
    struct cunei_buffer safe = {0};

    cunei_text_show(&safe, cunei_buffer_text(text), text->size);
    cunei_buffer_append(&safe, "", 0);
    bool failed = text->failed || safe.failed;
    cunei_buffer_fini(text);
    char *copy = failed ? NULL : strdup(cunei_buffer_text(&safe));
    cunei_buffer_fini(&safe);
    return copy;
}

/* `A` of "A.f", `A.B` of "A.B.f", nothing of "f" and of "f.<locals>.g". */
static size_t class_size(const char *qualname)
{
    const char *dot = strrchr(qualname, '.');

    if (!dot || (dot > qualname && dot[-1] == '>'))
        return 0;
    return (size_t)(dot - qualname);
}

static void format_class(const struct cunei_function *function,
                         struct cunei_buffer *out)
{
    size_t size = class_size(function->qualname);

    cunei_buffer_append_text(out, function->module);
    if (size > 0) {
        cunei_buffer_append_text(out, function->module[0] ? "." : "");
        cunei_buffer_append(out, function->qualname, size);
    }
}

static int make_name(const struct cunei_function *function,
                     const struct cunei_process *home, struct cunei_top_name *name)
{
    enum cunei_definition kind = cunei_definition_of(function);
    struct cunei_buffer text = {0}, place = {0}, class = {0};

    cunei_format_function(&text, function);
    cunei_format_place(&place, function, home);
    format_class(function, &class);
    *name = (struct cunei_top_name){
        .name = take_safe(&text),
        .place = take_safe(&place),
        .class = take_safe(&class),
        .waits = cunei_is_waiting_function(function),
        .is_region = kind == CUNEI_DEFINITION_REGION,
        .is_function = kind == CUNEI_DEFINITION_FUNCTION,
    };
    if (name->name && name->place && name->class)
        return 0;
    name_fini(name);
    return -ENOMEM;
}

/* The set borrows the texts of what is added: replace them by copies. */
static int copy_texts(struct cunei_function *item)
{
    struct cunei_function copy = *item;

    copy.module = strdup(item->module);
    copy.qualname = strdup(item->qualname);
    copy.file = strdup(item->file);
    *item = copy;
    return copy.module && copy.qualname && copy.file ? 0 : -ENOMEM;
}

int64_t cunei_top_known_function(struct cunei_top_known *known,
                                 const struct cunei_function *function,
                                 const struct cunei_process *home)
{
    uint32_t count = known->functions.count;
    struct cunei_top_name name;

    if (!CUNEI_VECTOR_RESERVE(known->names, known->name_capacity, count + 1))
        return -ENOMEM;
    int index = cunei_functions_add(&known->functions, function);
    if (index < 0 || (uint32_t)index < count)
        return index;
    known->names[index] = (struct cunei_top_name){0};
    int rc = copy_texts(&known->functions.items[index]);
    if (rc == 0)
        rc = make_name(&known->functions.items[index], home, &name);
    if (rc < 0)
        return rc;
    known->names[index] = name;
    return index;
}

const char *cunei_top_known_name(const struct cunei_top_known *known, uint32_t function)
{
    return function < known->functions.count ? known->names[function].name : "?";
}
