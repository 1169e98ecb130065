// SPDX-License-Identifier: MIT
#include "python/interpreter_args.h"

#include <stdio.h>
#include <string.h>

bool cunei_python_is_named(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;

    if (strncmp(name, "python", 6) != 0 && strncmp(name, "pypy", 4) != 0)
        return false;
    name += name[1] == 'y' && name[2] == 't' ? 6 : 4;
    name += strspn(name, "0123456789.");
    name += strspn(name, "td"); /* free-threaded and debug builds */
    return *name == '\0';
}

/* Read one word of joined letters; returns the letter that takes an argument, or 0. */
static char read_letters(struct cunei_interpreter_args *words, const char *word,
                         const char **rest)
{
    for (const char *c = word + 1; *c; c++) {
        size_t size = strlen(words->flags);
        if (strchr("cmWXQ", *c)) {
            *rest = c + 1;
            return *c;
        }
        if (*c == 'S')
            words->no_site = true;
        if (strchr("hV?", *c))
            words->prints_and_exits = true;
        if (strchr("EIPs", *c) && !strchr(words->flags, *c) &&
            size + 2 < sizeof(words->flags)) {
            (void)snprintf(words->flags + size, sizeof(words->flags) - size, "%s%c",
                           size ? "" : "-", *c);
        }
    }
    return 0;
}

struct cunei_interpreter_args cunei_interpreter_args_parse(int argc, char **argv)
{
    struct cunei_interpreter_args words = {0};

    for (int i = 1; i < argc; i++) {
        const char *word = argv[i], *rest = "";
        if (word[0] != '-' || word[1] == '\0') {
            words.program = i;
            break;
        }
        if (word[1] == '-') {
            if (strcmp(word, "--check-hash-based-pycs") == 0)
                i++;
            else if (strncmp(word, "--help", 6) == 0 || strcmp(word, "--version") == 0)
                words.prints_and_exits = true;
            else if (word[2] == '\0') { /* Python's own `--` */
                words.program = i + 1 < argc ? i + 1 : 0;
                break;
            }
            continue;
        }
        char letter = read_letters(&words, word, &rest);
        if (letter == 'c' || letter == 'm') {
            words.kind = letter;
            words.program = *rest ? i : i + 1 < argc ? i + 1 : 0;
            break;
        }
        if (letter && !*rest)
            i++;
    }
    return words;
}
