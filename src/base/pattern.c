// SPDX-License-Identifier: MIT
#include "base/pattern.h"

#include <errno.h>
#include <locale.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/glob.h"
#include "base/regex_cost.h"
#include "base/vector.h"

#define FROZEN_NAME_MAX 64

enum kind {
    KIND_REGEX, /* these have an expression … */
    KIND_REGEX_NAME,
    KIND_REGEX_FILE, /* … up to here */
    KIND_PROJECT,
    KIND_NAME,
    KIND_FILE,
    KIND_MODULE,
};

struct cunei_pattern {
    enum kind kind;
    bool include;
    bool negated;   /* it selects functions that it does not match */
    char *text;     /* owned: as it was given */
    char *first;    /* owned: the glob for the module or the file */
    char *qualname; /* owned: the second glob of KIND_NAME */
    regex_t regex;  /* up to KIND_REGEX_FILE */
    locale_t utf8;  /* owned: of the regex; 0: it uses the program's */
    size_t bytes;   /* about what the regex takes */
    char *file;     /* owned: where it was written; NULL: it was typed */
    size_t line;    /* of the file; 0: not known */
};

/* No module can have such a name, except `re`, which came first. */
static const struct {
    const char *text;
    enum kind kind;
} prefixes[] = {
    {"re:", KIND_REGEX},
    {"re-name:", KIND_REGEX_NAME},
    {"re-file:", KIND_REGEX_FILE},
    {CUNEI_PATTERN_PROJECT, KIND_PROJECT},
};

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

/* The kind of a pattern, and the length of its prefix. */
static enum kind kind_of(const char *text, size_t *prefix)
{
    *prefix = 0;
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        size_t size = strlen(prefixes[i].text);
        if (strncmp(text, prefixes[i].text, size) == 0) {
            *prefix = size;
            return prefixes[i].kind;
        }
    }
    if (strchr(text, '/') || ends_with(text, ".py"))
        return KIND_FILE;
    return strchr(text, ':') ? KIND_NAME : KIND_MODULE;
}

static void pattern_fini(struct cunei_pattern *pattern)
{
    if (pattern->kind <= KIND_REGEX_FILE && pattern->text)
        regfree(&pattern->regex);
    if (pattern->utf8)
        freelocale(pattern->utf8);
    free(pattern->text);
    free(pattern->first);
    free(pattern->qualname);
    free(pattern->file);
}

static char *or_star(char *glob)
{
    if (glob && glob[0] == '\0') {
        free(glob);
        return strdup("*");
    }
    return glob;
}

/* -EINVAL if there is a reason, which goes to `error`. */
static int refuse(const char *reason, char *error, size_t error_size)
{
    if (reason && error)
        (void)snprintf(error, error_size, "%s", reason);
    return reason ? -EINVAL : 0;
}

/* Refuse patterns that cannot have a meaning; 0, or -EINVAL with the reason. */
static int check(enum kind kind, const char *text, const char *first, char *error,
                 size_t error_size)
{
    const char *reason = NULL;

    if (text[0] == '!' && !text[1])
        reason = "nothing follows the '!'";
    else if (kind <= KIND_REGEX_FILE && !first[0])
        reason = "no expression follows the ':'; 're:.' matches all";
    else if (kind == KIND_PROJECT && first[0] && first[0] != '/')
        reason = "a project is an absolute path, for example in-project:/home/ann/shop";
    return refuse(reason, error, error_size);
}

static int compile(struct cunei_pattern *pattern, const char *text,
                   const char *expression, char *error, size_t error_size)
{
    const char *reason = cunei_regex_cost(expression, &pattern->bytes);
    if (reason)
        return refuse(reason, error, error_size);
    /* What a character is shall not depend on the program's locale. */
    pattern->utf8 = newlocale(LC_CTYPE_MASK | LC_COLLATE_MASK, "C.UTF-8", (locale_t)0);
    locale_t before = uselocale(pattern->utf8);
    int rc = regcomp(&pattern->regex, expression, REG_EXTENDED | REG_NOSUB);
    (void)uselocale(before);

    if (rc != 0) {
        if (error)
            (void)regerror(rc, &pattern->regex, error, error_size);
        return rc == REG_ESPACE ? -ENOMEM : -EINVAL;
    }
    pattern->text = strdup(text);
    if (pattern->text)
        return 0;
    regfree(&pattern->regex);
    return -ENOMEM;
}

/* Fill in `pattern`; the caller releases it, also after a failure. */
static int pattern_init(struct cunei_pattern *pattern, const char *text, char *error,
                        size_t error_size)
{
    const char *first = text + (text[0] == '!');
    size_t prefix = 0;

    pattern->negated = text[0] == '!';
    pattern->kind = kind_of(first, &prefix);
    first += prefix;
    if (check(pattern->kind, text, first, error, error_size) < 0)
        return -EINVAL;
    if (pattern->kind <= KIND_REGEX_FILE)
        return compile(pattern, text, first, error, error_size);
    /* As a shell completes it; files are compared from their end. */
    while (pattern->kind == KIND_FILE && strncmp(first, "./", 2) == 0)
        first += 2;
    const char *colon = pattern->kind == KIND_NAME ? strchr(first, ':') : NULL;
    size_t first_length = colon ? (size_t)(colon - first) : strlen(first);
    while (pattern->kind == KIND_PROJECT && first_length > 0 &&
           first[first_length - 1] == '/')
        first_length--;
    pattern->text = strdup(text);
    pattern->first = strndup(first, first_length);
    if (pattern->kind != KIND_PROJECT)
        pattern->first = or_star(pattern->first);
    pattern->qualname = or_star(strdup(colon ? colon + 1 : ""));
    if (!pattern->text || !pattern->first || !pattern->qualname)
        return -ENOMEM;
    if (pattern->kind == KIND_PROJECT)
        return 0;
    const char *reason = cunei_glob_check(pattern->first);
    return refuse(reason ? reason : cunei_glob_check(pattern->qualname), error,
                  error_size);
}

int cunei_patterns_add(struct cunei_patterns *patterns, bool include, const char *text,
                       char *error, size_t error_size)
{
    if (!CUNEI_VECTOR_RESERVE_ONE(patterns->items, patterns->count))
        return -ENOMEM;
    struct cunei_pattern *items = patterns->items;

    struct cunei_pattern pattern = {.include = include};
    int rc = pattern_init(&pattern, text, error, error_size);
    if (rc == 0 && patterns->expression_bytes + pattern.bytes > CUNEI_REGEX_MAX_BYTES)
        rc = refuse(
            "with the expressions before it, it needs too much memory; use fewer",
            error, error_size);
    if (rc < 0) {
        pattern_fini(&pattern);
        return rc;
    }
    patterns->expression_bytes += pattern.bytes;
    items[patterns->count++] = pattern;
    return 0;
}

void cunei_patterns_remove(struct cunei_patterns *patterns, size_t first,
                           const char *text)
{
    size_t kept = first;

    for (size_t i = first; i < patterns->count; i++) {
        if (strcmp(patterns->items[i].text, text) != 0) {
            patterns->items[kept++] = patterns->items[i];
            continue;
        }
        patterns->expression_bytes -= patterns->items[i].bytes;
        pattern_fini(&patterns->items[i]);
    }
    if (kept < patterns->count)
        patterns->count = kept;
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
    if (cunei_glob_matches(glob, file))
        return true;
    if (glob[0] == '/')
        return false;
    for (const char *slash = strchr(file, '/'); slash; slash = strchr(slash + 1, '/')) {
        if (cunei_glob_matches(glob, slash + 1))
            return true;
    }
    return false;
}

/* The module itself, or a package above it. */
static bool module_matches(const char *glob, const char *module)
{
    if (cunei_glob_matches(glob, module))
        return true;
    for (const char *dot = strchr(module, '.'); dot; dot = strchr(dot + 1, '.')) {
        if (cunei_glob_matches_part(glob, module, (size_t)(dot - module)))
            return true;
    }
    return false;
}

/* What belongs to a Python or was installed into one, though it lies below a project.
 */
static bool is_installed(const char *path)
{
    static const char *const folders[] = {"/lib/python3.", "/lib64/python3.",
                                          "/site-packages/", "/dist-packages/",
                                          "/__pypackages__/"};

    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        if (strstr(path, folders[i]))
            return true;
    }
    return false;
}

static bool is_own(const char *folder, const char *file)
{
    size_t size = strlen(folder);

    return strncmp(file, folder, size) == 0 && file[size] == '/' &&
           !is_installed(file + size);
}

/* A notebook's cell: ipykernel names a file for each that does not exist. */
static bool is_cell(const char *module, const char *file)
{
    return strcmp(module, "__main__") == 0 && strstr(file, "/ipykernel_") &&
           !is_installed(file);
}

/*
 * Code of `python -c` and typed code have no file.  A file name may contain links or
 * `..`. We do not resolve the names of files that belong to a Python, which are most.
 */
static bool project_matches(const char *folder, const char *module, const char *file)
{
    bool is_plain = !strstr(file, "/../");

    if (file[0] == '<')
        return strcmp(module, "__main__") == 0;
    if (is_cell(module, file))
        return true;
    if (is_plain && is_own(folder, file))
        return true;
    int before = errno;
    char *path = file[0] == '\0' || is_installed(file) ? NULL : realpath(file, NULL);
    bool is_linked = path && is_own(folder, path);
    free(path);
    errno = before;
    return is_linked;
}

static bool is_found(const struct cunei_pattern *pattern, const char *text)
{
    locale_t before = uselocale(pattern->utf8);
    bool is_found = regexec(&pattern->regex, text, 0, NULL, 0) == 0;
    (void)uselocale(before);
    return is_found;
}

/* In "module:qualname", or in the file. */
static bool regex_matches(const struct cunei_pattern *pattern, const char *module,
                          const char *qualname, const char *file)
{
    struct cunei_buffer name = {0};

    cunei_buffer_format(&name, "%s:%s", module, qualname);
    bool matches =
        (!name.failed && is_found(pattern, name.data)) || is_found(pattern, file);
    cunei_buffer_fini(&name);
    return matches;
}

static bool pattern_matches(const struct cunei_patterns *patterns,
                            const struct cunei_pattern *pattern, const char *module,
                            const char *qualname, const char *file)
{
    const char *dot = strrchr(qualname, '.');

    switch (pattern->kind) {
    case KIND_FILE:
        return file_matches(pattern->first, file);
    case KIND_MODULE:
        return module_matches(pattern->first, module);
    case KIND_NAME:
        return cunei_glob_matches(pattern->first, module) &&
               cunei_glob_matches(pattern->qualname, qualname);
    case KIND_PROJECT:
        return project_matches(!pattern->first[0] && patterns->project
                                   ? patterns->project
                                   : pattern->first,
                               module, file);
    case KIND_REGEX_NAME:
        return is_found(pattern, dot ? dot + 1 : qualname);
    case KIND_REGEX_FILE:
        return is_found(pattern, file);
    case KIND_REGEX:
        break;
    }
    return regex_matches(pattern, module, qualname, file);
}

/*
 * The NAME of a file "<frozen NAME>"; false: it is another file.  The import system is
 * called _frozen_importlib until a program imports importlib, and importlib._bootstrap
 * from then on; its file always has the second name.
 */
static bool frozen_name(const char *file, char name[FROZEN_NAME_MAX])
{
    static const char prefix[] = "<frozen ";

    if (strncmp(file, prefix, strlen(prefix)) != 0)
        return false;
    file += strlen(prefix);
    size_t size = strlen(file);
    if (size == 0 || size > FROZEN_NAME_MAX || file[size - 1] != '>')
        return false;
    memcpy(name, file, size - 1);
    name[size - 1] = '\0';
    return true;
}

/* The last pattern that matches; NULL: none does. */
static const struct cunei_pattern *find(const struct cunei_patterns *patterns,
                                        const char *module, const char *qualname,
                                        const char *file)
{
    char name[FROZEN_NAME_MAX];
    bool is_frozen = patterns->count > 0 && frozen_name(file, name);

    for (size_t i = patterns->count; i > 0; i--) {
        const struct cunei_pattern *pattern = &patterns->items[i - 1];
        bool matches =
            pattern_matches(patterns, pattern, module, qualname, file) ||
            (is_frozen && pattern_matches(patterns, pattern, name, qualname, file));
        if (matches != pattern->negated)
            return pattern;
    }
    return NULL;
}

void cunei_patterns_project_first(struct cunei_patterns *patterns)
{
    for (size_t i = 1; i < patterns->count; i++) {
        struct cunei_pattern pattern = patterns->items[i];
        if (pattern.kind != KIND_PROJECT)
            continue;
        memmove(patterns->items + 1, patterns->items, i * sizeof(pattern));
        patterns->items[0] = pattern;
    }
}

bool cunei_patterns_include(const struct cunei_patterns *patterns, const char *module,
                            const char *qualname, const char *file)
{
    const struct cunei_pattern *last = find(patterns, module, qualname, file);

    if (last)
        return last->include;
    return patterns->count == 0 || !patterns->items[0].include;
}

bool cunei_patterns_exclude(const struct cunei_patterns *patterns, const char *module,
                            const char *qualname, const char *file)
{
    const struct cunei_pattern *last = find(patterns, module, qualname, file);

    return last && !last->include;
}

const char *cunei_patterns_text(const struct cunei_patterns *patterns, size_t index,
                                bool *include)
{
    *include = patterns->items[index].include;
    return patterns->items[index].text;
}

bool cunei_patterns_have_project(const struct cunei_patterns *patterns)
{
    return patterns->count > 0 && patterns->items[0].kind == KIND_PROJECT &&
           patterns->items[0].include;
}

void cunei_patterns_set_line(struct cunei_patterns *patterns, size_t line)
{
    patterns->items[patterns->count - 1].line = line;
}

int cunei_patterns_set_file(struct cunei_patterns *patterns, size_t first,
                            const char *file)
{
    for (size_t i = first; i < patterns->count; i++) {
        char *copy = strdup(file);
        if (!copy)
            return -ENOMEM;
        free(patterns->items[i].file);
        patterns->items[i].file = copy;
    }
    return 0;
}

const char *cunei_patterns_file(const struct cunei_patterns *patterns, size_t index,
                                size_t *line)
{
    *line = patterns->items[index].line;
    return patterns->items[index].file;
}
