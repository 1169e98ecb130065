// SPDX-License-Identifier: MIT
#include "cmd/suggest/module.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/record/interpreter.h"
#include "cmd/record/program.h"
#include "cmd/suggest/nearest.h"
#include "python/interpreter_args.h"

struct search {
    struct cunei_suggestion nearest;
    char *name; /* owned: what nearest.name points to */
};

/* "json" of json, a package, and of json.py; others are no modules. */
static void offer_entry(struct search *search, const char *entry)
{
    size_t size = strcspn(entry, ".");
    if (size == 0 || (entry[size] && strcmp(entry + size, ".py") != 0))
        return;

    char *name = strndup(entry, size);
    if (!name)
        return;
    cunei_suggestion_offer(&search->nearest, name);
    if (search->nearest.name == name) {
        free(search->name);
        search->name = name;
    } else
        free(name);
}

static void offer_folder(struct search *search, const char *folder)
{
    DIR *stream = *folder ? opendir(folder) : NULL;
    if (!stream)
        return;

    for (struct dirent *entry = readdir(stream); entry; entry = readdir(stream))
        offer_entry(search, entry->d_name);
    (void)closedir(stream);
}

/* The folder that a file or a folder lies in. */
static void offer_beside(struct search *search, const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path)) : strdup(".");

    if (folder && *path)
        offer_folder(search, folder);
    free(folder);
}

/* Where the program's own modules are: beside the script, or where it was started. */
static void offer_own(struct search *search, const struct cunei_program *program)
{
    int count = 0;

    while (program->words[count])
        count++;
    struct cunei_interpreter_args words =
        cunei_interpreter_args_parse(count, program->words);
    bool is_script = words.program > 0 && words.program < count && !words.kind;
    offer_beside(search, is_script ? program->words[words.program] : ".");
}

char *cunei_suggest_module(const struct cunei_program *program, const char *word)
{
    struct search search = {.nearest = {.word = word}};
    struct cunei_interpreter python = {0};

    if (program->words)
        offer_own(&search, program);
    if (program->python &&
        cunei_interpreter_ask(&python, program->python, program->flags) == 0) {
        offer_folder(&search, python.stdlib);
        offer_beside(&search, python.package);
    }
    cunei_interpreter_fini(&python);
    /* Two slips make one short word of almost any other. */
    if (search.name && search.nearest.distance == 1)
        return search.name;
    free(search.name);
    return NULL;
}
