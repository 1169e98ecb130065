// SPDX-License-Identifier: MIT
#include "python/command_line.h"

#include <stdbool.h>
#include <string.h>

const char *cunei_command_line_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* Whether the first word is the Python that ran: it may also be the program itself,
 * as in sys.argv. */
static bool begins_with_python(const char *word, const char *executable)
{
    const char *name = cunei_command_line_base(word);
    size_t size = strlen(name);

    if (executable && strcmp(name, cunei_command_line_base(executable)) == 0)
        return true;
    return strncmp(name, "python", 6) == 0 &&
           (size < 3 || strcmp(name + size - 3, ".py") != 0);
}

/* The options in a word, as `-Xdev`, `-Im` or `--help`: what they ask for, and in
 * `*takes_next` whether the next word belongs to them.  True: no options come behind.
 */
static bool read_options(const char *word, const char *next,
                         struct cunei_command_line *words, bool *takes_next)
{
    *takes_next = strcmp(word, "--check-hash-based-pycs") == 0;
    if (word[1] == '-')
        return false;
    for (const char *letter = word + 1; *letter; letter++) {
        switch (*letter) {
        case 'c':
        case 'm':
            *takes_next = letter[1] == '\0' && next[0];
            *(*letter == 'c' ? &words->code : &words->module) =
                letter[1] ? letter + 1 : next;
            return true;
        case 'W':
        case 'X':
            *takes_next = letter[1] == '\0';
            return false;
        default:
            break;
        }
    }
    return false;
}

struct cunei_command_line cunei_command_line_read(const char *executable,
                                                  char *const *arguments, size_t count)
{
    struct cunei_command_line words = {.script = ""};
    bool takes_next = false;
    size_t first = 0;

    if (count > 0)
        first = begins_with_python(arguments[0], executable);
    for (size_t i = first; i < count; i++) {
        const char *word = arguments[i];
        words.rest = i + 1;
        const char *next = i + 1 < count ? arguments[i + 1] : "";
        if (strcmp(word, "-") == 0 || word[0] == '\0')
            break; /* it comes from stdin */
        if (word[0] != '-') {
            words.script = word;
            break;
        }
        /* sys.argv has -c or -m alone in place of the program. */
        bool is_last = read_options(word, first ? next : "", &words, &takes_next);
        i += takes_next;
        words.rest = i + 1;
        if (is_last || !first)
            break;
    }
    return words;
}
