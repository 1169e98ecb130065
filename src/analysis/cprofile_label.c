// SPDX-License-Identifier: MIT
#include "analysis/cprofile_label.h"

#include <stdbool.h>
#include <string.h>

#include "base/buffer.h"

#define NO_FILE  "~"
#define BUILT_IN "<built-in method "
#define METHOD   "<method '"
#define OF       "' of '"
#define OBJECTS  "' objects>"

static const char *name_in_c(const struct cunei_function *function,
                             struct cunei_buffer *text)
{
    const char *dot = strrchr(function->qualname, '.');
    bool is_builtin = strcmp(function->module, "builtins") == 0;

    cunei_buffer_clear(text);
    if (!dot)
        cunei_buffer_format(text, BUILT_IN "%s.%s>", function->module,
                            function->qualname);
    else
        cunei_buffer_format(text, METHOD "%s" OF "%s%s%.*s" OBJECTS, dot + 1,
                            is_builtin ? "" : function->module, is_builtin ? "" : ".",
                            (int)(dot - function->qualname), function->qualname);
    return text->failed ? "" : text->data;
}

struct cunei_function cunei_label_make(const struct cunei_function *function,
                                       struct cunei_buffer *text)
{
    const char *dot = strrchr(function->qualname, '.');

    if (!function->file[0])
        return (struct cunei_function){
            .module = "", .qualname = name_in_c(function, text), .file = NO_FILE};
    /* co_name is the end of the qualified name. */
    return (struct cunei_function){.module = "",
                                   .qualname =
                                       dot && dot[1] ? dot + 1 : function->qualname,
                                   .file = function->file,
                                   .line = function->line};
}

/* The last dot of a text that is no longer than that; NULL: there is none. */
static const char *last_dot(const char *text, const char *end)
{
    while (end > text && end[-1] != '.')
        end--;
    return end > text ? end - 1 : NULL;
}

/* The module stands in `text` already; the name goes behind it. */
static struct cunei_function finish(struct cunei_buffer *text, const char *type,
                                    const char *type_end, const char *name,
                                    const char *name_end)
{
    size_t module_size = text->size;

    cunei_buffer_append(text, "", 1);
    cunei_buffer_append(text, type, (size_t)(type_end - type));
    cunei_buffer_append(text, ".", type_end > type);
    cunei_buffer_append(text, name, (size_t)(name_end - name));
    if (text->failed)
        return (struct cunei_function){.module = "", .qualname = "", .file = ""};
    return (struct cunei_function){
        .module = text->data, .qualname = text->data + module_size + 1, .file = ""};
}

struct cunei_function cunei_label_parse(const struct cunei_function *label,
                                        struct cunei_buffer *text)
{
    const char *name = label->qualname;

    cunei_buffer_clear(text);
    if (strcmp(label->file, NO_FILE) != 0)
        return *label;
    if (strncmp(name, BUILT_IN, strlen(BUILT_IN)) == 0) {
        const char *begin = name + strlen(BUILT_IN),
                   *end = begin + strcspn(begin, " >");
        const char *dot = last_dot(begin, end);
        if (!dot || strcmp(end, ">") != 0)
            return *label;
        cunei_buffer_append(text, begin, (size_t)(dot - begin));
        return finish(text, begin, begin, dot + 1, end);
    }
    if (strncmp(name, METHOD, strlen(METHOD)) == 0) {
        const char *begin = name + strlen(METHOD), *of = strstr(begin, OF);
        const char *type = of ? of + strlen(OF) : NULL;
        const char *objects = type ? strstr(type, OBJECTS) : NULL;
        if (!objects)
            return *label;
        const char *dot = last_dot(type, objects);
        if (dot)
            cunei_buffer_append(text, type, (size_t)(dot - type));
        else
            cunei_buffer_append_text(text, "builtins");
        return finish(text, dot ? dot + 1 : type, objects, begin, of);
    }
    return *label;
}
