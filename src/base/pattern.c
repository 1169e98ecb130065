// SPDX-License-Identifier: MIT
#include "base/pattern.h"

#include <errno.h>
#include <fnmatch.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"

enum kind {
    KIND_REGEX,
    KIND_NAME,
    KIND_FILE,
    KIND_MODULE,
};

struct cunei_pattern {
    enum kind kind;
    bool include;
    char *text;     /* owned: as it was given */
    char *first;    /* owned: the glob for the module or the file */
    char *qualname; /* owned: the second glob of KIND_NAME */
    regex_t regex;  /* KIND_REGEX */
};

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

static enum kind kind_of(const char *text)
{
    if (strncmp(text, "re:", 3) == 0)
        return KIND_REGEX;
    if (strchr(text, '/') || ends_with(text, ".py"))
        return KIND_FILE;
    return strchr(text, ':') ? KIND_NAME : KIND_MODULE;
}

static void pattern_fini(struct cunei_pattern *pattern)
{
    if (pattern->kind == KIND_REGEX && pattern->text)
        regfree(&pattern->regex);
    free(pattern->text);
    free(pattern->first);
    free(pattern->qualname);
}

static char *or_star(char *glob)
{
    if (glob && glob[0] == '\0') {
        free(glob);
        return strdup("*");
    }
    return glob;
}

/* Fill `pattern` in; on failure nothing is left to release but its copies. */
static int pattern_init(struct cunei_pattern *pattern, const char *text, char *error,
                        size_t error_size)
{
    if (pattern->kind == KIND_REGEX) {
        int rc = regcomp(&pattern->regex, text + 3, REG_EXTENDED | REG_NOSUB);
        if (rc != 0) {
            if (error)
                (void)regerror(rc, &pattern->regex, error, error_size);
            return rc == REG_ESPACE ? -ENOMEM : -EINVAL;
        }
        pattern->text = strdup(text);
        if (!pattern->text) {
            regfree(&pattern->regex);
            return -ENOMEM;
        }
        return 0;
    }

    const char *first = text;
    /* As a shell completes it; files are compared from their end. */
    while (pattern->kind == KIND_FILE && strncmp(first, "./", 2) == 0)
        first += 2;
    const char *colon = pattern->kind == KIND_NAME ? strchr(text, ':') : NULL;
    size_t first_length = colon ? (size_t)(colon - first) : strlen(first);
    pattern->text = strdup(text);
    pattern->first = or_star(strndup(first, first_length));
    pattern->qualname = or_star(strdup(colon ? colon + 1 : ""));
    return pattern->text && pattern->first && pattern->qualname ? 0 : -ENOMEM;
}

int cunei_patterns_add(struct cunei_patterns *patterns, bool include, const char *text,
                       char *error, size_t error_size)
{
    struct cunei_pattern *items =
        realloc(patterns->items, (patterns->count + 1) * sizeof(*items));
    if (!items)
        return -ENOMEM;
    patterns->items = items;

    struct cunei_pattern pattern = {.kind = kind_of(text), .include = include};
    int rc = pattern_init(&pattern, text, error, error_size);
    if (rc < 0) {
        if (pattern.kind != KIND_REGEX)
            pattern_fini(&pattern);
        return rc;
    }
    items[patterns->count++] = pattern;
    return 0;
}

void cunei_patterns_fini(struct cunei_patterns *patterns)
{
    for (size_t i = 0; i < patterns->count; i++)
        pattern_fini(&patterns->items[i]);
    free(patterns->items);
    *patterns = (struct cunei_patterns){0};
}

static bool file_matches(const char *glob, const char *file)
{
    if (fnmatch(glob, file, 0) == 0)
        return true;
    if (glob[0] == '/')
        return false;
    for (const char *slash = strchr(file, '/'); slash; slash = strchr(slash + 1, '/')) {
        if (fnmatch(glob, slash + 1, 0) == 0)
            return true;
    }
    return false;
}

/* The module itself, or a package above it. */
static bool module_matches(const char *glob, const char *module)
{
    if (fnmatch(glob, module, 0) == 0)
        return true;
    for (const char *dot = strchr(module, '.'); dot; dot = strchr(dot + 1, '.')) {
        char *package = strndup(module, (size_t)(dot - module));
        bool matches = package && fnmatch(glob, package, 0) == 0;
        free(package);
        if (matches)
            return true;
    }
    return false;
}

static bool pattern_matches(const struct cunei_pattern *pattern, const char *module,
                            const char *qualname, const char *file)
{
    switch (pattern->kind) {
    case KIND_FILE:
        return file_matches(pattern->first, file);
    case KIND_MODULE:
        return module_matches(pattern->first, module);
    case KIND_NAME:
        return fnmatch(pattern->first, module, 0) == 0 &&
               fnmatch(pattern->qualname, qualname, 0) == 0;
    case KIND_REGEX:
        break;
    }

    struct cunei_buffer name = {0};
    cunei_buffer_format(&name, "%s:%s", module, qualname);
    bool matches =
        (!name.failed && regexec(&pattern->regex, name.data, 0, NULL, 0) == 0) ||
        regexec(&pattern->regex, file, 0, NULL, 0) == 0;
    cunei_buffer_fini(&name);
    return matches;
}

bool cunei_patterns_include(const struct cunei_patterns *patterns, const char *module,
                            const char *qualname, const char *file)
{
    for (size_t i = patterns->count; i > 0; i--) {
        const struct cunei_pattern *pattern = &patterns->items[i - 1];
        if (pattern_matches(pattern, module, qualname, file))
            return pattern->include;
    }
    return patterns->count == 0 || !patterns->items[0].include;
}

const char *cunei_patterns_text(const struct cunei_patterns *patterns, size_t index,
                                bool *include)
{
    *include = patterns->items[index].include;
    return patterns->items[index].text;
}
