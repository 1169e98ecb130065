// SPDX-License-Identifier: MIT
#include "cmd/suggest/module.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/suggest/suggestion.h"

struct search {
    struct cunei_suggestion nearest;
    char *name; /* owned: what nearest.name points to */
};

/* Package "json" or file "json.py"; other files are not modules. */
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
    DIR *stream = folder && *folder ? opendir(folder) : NULL;
    if (!stream)
        return;

    for (struct dirent *entry = readdir(stream); entry; entry = readdir(stream))
        offer_entry(search, entry->d_name);
    (void)closedir(stream);
}

char *cunei_suggest_module(const char *const *folders, size_t count, const char *word)
{
    struct search search = {.nearest = {.word = word}};

    for (size_t i = 0; i < count; i++)
        offer_folder(&search, folders[i]);
    /* Two edits turn a short word into almost any other. */
    if (search.name && search.nearest.distance == 1)
        return search.name;
    free(search.name);
    return NULL;
}
