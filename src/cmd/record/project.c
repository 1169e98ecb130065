// SPDX-License-Identifier: MIT
#include "cmd/record/project.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/pattern.h"
#include "base/regular_file.h"
#include "python/interpreter_args.h"

static const char *const markers[] = {"pyproject.toml", "setup.py", "setup.cfg", ".git",
                                      ".hg"};

static bool has_python_ending(const char *word)
{
    const char *dot = strrchr(word, '.');

    return dot && (strcmp(dot, ".py") == 0 || strcmp(dot, ".pyz") == 0 ||
                   strcmp(dot, ".pyw") == 0 || strcmp(dot, ".pyc") == 0);
}

/* Whether it is in a folder `bin`, where packages install commands: then the path does
 * not identify a project. */
static bool is_in_bin(const char *path)
{
    const char *end = strrchr(path, '/');

    return end && end - path >= 3 && strncmp(end - 3, "bin", 3) == 0 &&
           (end - path == 3 || end[-4] == '/');
}

/* The script among the words; NULL: it is something else. */
static const char *find_script(int argc, char **argv)
{
    const char *word = argv[0];

    if (word[0] == '-')
        return NULL;
    if (cunei_python_is_named(word) && !cunei_is_directory(word)) {
        struct cunei_interpreter_args words = cunei_interpreter_args_parse(argc, argv);
        bool is_script = words.kind == 0 && words.program > 0 && words.program < argc &&
                         strcmp(argv[words.program], "-") != 0;
        return is_script ? argv[words.program] : NULL;
    }
    if (has_python_ending(word) || cunei_is_directory(word))
        return word;
    return strchr(word, '/') && !is_in_bin(word) ? word : NULL;
}

/* Cut a path behind its last folder; that of the root stays. */
static void cut_last(char *path)
{
    char *slash = strrchr(path, '/');

    if (slash)
        slash[slash == path] = '\0';
}

char *cunei_project_start(int argc, char **argv)
{
    const char *script = find_script(argc, argv);
    char *path = script ? realpath(script, NULL) : getcwd(NULL, 0);

    if (script && path && !cunei_is_directory(path))
        cut_last(path);
    return path;
}

static bool has_marker(const char *folder)
{
    bool found = false;

    for (size_t i = 0; i < sizeof(markers) / sizeof(markers[0]) && !found; i++) {
        char *path = NULL;
        if (asprintf(&path, "%s/%s", folder, markers[i]) < 0)
            return false;
        found = access(path, F_OK) == 0;
        free(path);
    }
    return found;
}

/* The project's folder; owned, NULL: no memory. */
static char *find_root(const char *start)
{
    char *folder = strdup(start);

    while (folder && !has_marker(folder) && folder[1])
        cut_last(folder);
    if (!folder || has_marker(folder))
        return folder;
    free(folder);
    return strdup(start);
}

static int add_project(struct cunei_patterns *patterns, const char *folder)
{
    char *text = NULL;

    if (asprintf(&text, CUNEI_PATTERN_PROJECT "%s", folder) < 0)
        return -ENOMEM;
    int rc = cunei_patterns_add(patterns, true, text, NULL, 0);
    free(text);
    return rc;
}

/* Add pattern `i` of those. */
static int add_copy(struct cunei_patterns *to, const struct cunei_patterns *from,
                    size_t i)
{
    size_t line = 0;
    bool include;
    const char *text = cunei_patterns_text(from, i, &include);
    const char *file = cunei_patterns_file(from, i, &line);

    int rc = cunei_patterns_add(to, include, text, NULL, 0);
    if (rc < 0 || !file)
        return rc;
    cunei_patterns_set_line(to, line);
    return cunei_patterns_set_file(to, to->count - 1, file);
}

static int settle(struct cunei_patterns *patterns, const char *root)
{
    struct cunei_patterns settled = {0};

    int rc = add_project(&settled, root);
    for (size_t i = 0; i < patterns->count && rc == 0; i++) {
        bool include;
        const char *text = cunei_patterns_text(patterns, i, &include);
        if (strcmp(text, CUNEI_PATTERN_PROJECT) != 0)
            rc = add_copy(&settled, patterns, i);
    }
    if (rc < 0) {
        cunei_patterns_fini(&settled);
        return rc;
    }
    cunei_patterns_fini(patterns);
    *patterns = settled;
    return 0;
}

static bool is_asked_for(const struct cunei_patterns *patterns)
{
    bool include;

    for (size_t i = 0; i < patterns->count; i++) {
        if (strcmp(cunei_patterns_text(patterns, i, &include), CUNEI_PATTERN_PROJECT) ==
            0)
            return true;
    }
    return false;
}

int cunei_project_settle(struct cunei_patterns *patterns, const char *root)
{
    /* A script that does not exist is reported when the program is looked for. */
    return root && is_asked_for(patterns) ? settle(patterns, root) : 0;
}

char *cunei_project_find(int argc, char **argv)
{
    char *start = cunei_project_start(argc, argv);
    char *root = start ? find_root(start) : NULL;

    free(start);
    return root;
}
