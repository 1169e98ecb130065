// SPDX-License-Identifier: MIT
/* The part of format.h that knows what a process runs, and from where. */
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/buffer.h"
#include "view/format.h"
#include "wire/metadata.h"
#include "wire/process.h"
#include "wire/userevent.h"

/* What a command line asks a Python for. */
struct words {
    const char *script; /* a file or directory; "": there is none */
    const char *module; /* of -m; NULL: there is none */
    const char *code;   /* of -c, "" where it is not known; NULL: there is none */
    size_t rest;        /* the first word behind them */
};

/* What a row of a table takes of a command line's arguments, in columns. */
#define ARGUMENTS_WIDTH 60

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* Whether the first word is the Python that ran: it may also be the program itself,
 * as in sys.argv. */
static bool begins_with_python(const struct cunei_process *process)
{
    const char *name = base_name(process->arguments[0]);
    size_t size = strlen(name);

    if (process->executable && strcmp(name, base_name(process->executable)) == 0)
        return true;
    return strncmp(name, "python", 6) == 0 &&
           (size < 3 || strcmp(name + size - 3, ".py") != 0);
}

/* The options in a word, as `-Xdev`, `-Im` or `--help`: what they ask for, and in
 * `*takes_next` whether the next word belongs to them.  True: no options come behind.
 */
static bool read_options(const char *word, const char *next, struct words *words,
                         bool *takes_next)
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

static struct words read_words(const struct cunei_process *process)
{
    struct words words = {.script = ""};
    bool takes_next = false;
    size_t first = 0;

    if (process->argument_count > 0)
        first = begins_with_python(process);
    for (size_t i = first; i < process->argument_count; i++) {
        const char *word = process->arguments[i];
        words.rest = i + 1;
        const char *next =
            i + 1 < process->argument_count ? process->arguments[i + 1] : "";
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

/* What follows the directory of `size` bytes in `file`, or NULL. */
static const char *below(const char *file, const char *directory, size_t size)
{
    if (size < 2 || strncmp(file, directory, size) != 0 || file[size] != '/')
        return NULL;
    return file + size + 1;
}

/* The file below the directories that its user has in mind, or NULL. */
static const char *below_home(const char *file, const struct cunei_process *process)
{
    const char *script = read_words(process).script;
    const char *slash = strrchr(script, '/');
    size_t size = slash ? (size_t)(slash - script) : 0;
    const char *here = process->directory
                           ? below(file, process->directory, strlen(process->directory))
                           : NULL;

    /* The script as it was typed: from the root, or from the working directory. */
    const char *beside = script[0] == '/' ? below(file, script, size)
                         : here           ? below(here, script, size)
                                          : NULL;
    return beside ? beside : here;
}

const char *cunei_format_file(const char *file, const struct cunei_process *process)
{
    static const char *const roots[] = {"/site-packages/", "/dist-packages/"};
    const char *home = process ? below_home(file, process) : NULL;

    if (home)
        return home;
    for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
        const char *at = strstr(file, roots[i]);
        if (at)
            return at + strlen(roots[i]);
    }
    const char *library = strstr(file, "/lib/python3");
    const char *end = library ? strchr(library + strlen("/lib/python3"), '/') : NULL;
    return end ? end + 1 : file;
}

void cunei_format_program(struct cunei_buffer *out, const struct cunei_process *process)
{
    struct words words = read_words(process);

    if (words.script[0])
        cunei_buffer_append_text(out, base_name(words.script));
    else if (words.code)
        cunei_buffer_append_text(out, "python -c");
    else if (words.module)
        cunei_buffer_format(out, "python -m%s%s", words.module[0] ? " " : "",
                            words.module);
    else
        cunei_buffer_append_text(out, "python");
}

/* What multiprocessing starts for itself, and pytest-xdist; NULL: it is none of that.
 */
static const char *find_helper(const char *code)
{
    static const struct {
        const char *module, *name;
    } helpers[] = {
        {"resource_tracker ", "resource tracker"},
        {"forkserver ", "forkserver"},
        {"spawn ", "spawn"},
    };
    static const char before[] = "import sys; ", begin[] = "from multiprocessing.";

    if (strcmp(code, "import sys;exec(eval(sys.stdin.readline()))") == 0)
        return "execnet";
    if (strncmp(code, before, sizeof(before) - 1) == 0)
        code += sizeof(before) - 1; /* the forkserver of 3.15 */
    if (strncmp(code, begin, sizeof(begin) - 1) != 0)
        return NULL;
    for (size_t i = 0; i < sizeof(helpers) / sizeof(helpers[0]); i++) {
        const char *module = helpers[i].module;
        if (strncmp(code + sizeof(begin) - 1, module, strlen(module)) == 0)
            return helpers[i].name;
    }
    return NULL;
}

/* A word in one line, behind a space. */
static void put_word(struct cunei_buffer *out, const char *word)
{
    static const char spaces[] = " \t\r\n";

    cunei_buffer_append_text(out, *word ? "" : " ''");
    while (*(word += strspn(word, spaces))) {
        size_t size = strcspn(word, spaces);
        cunei_buffer_append_text(out, " ");
        cunei_buffer_append(out, word, size);
        word += size;
    }
}

void cunei_format_command(struct cunei_buffer *out, const struct cunei_process *process)
{
    struct words words = read_words(process);
    const char *helper = words.code ? find_helper(words.code) : NULL;
    struct cunei_buffer text = {0};

    if (helper) {
        cunei_buffer_append_text(out, helper);
        return;
    }
    cunei_format_program(out, process);
    /* A forked process has those of its parent, which stand above it. */
    if (process->forked)
        return;
    if (words.code && *words.code)
        put_word(&text, words.code);
    for (size_t i = words.rest; i < process->argument_count; i++)
        put_word(&text, process->arguments[i]);
    if (text.size > 0)
        cunei_format_text(out, text.data, ARGUMENTS_WIDTH);
    out->failed |= text.failed;
    cunei_buffer_fini(&text);
}

const char *cunei_format_type(const char *type)
{
    static const char own[] = "__main__.";
    return type + (strncmp(type, own, sizeof(own) - 1) == 0 ? sizeof(own) - 1 : 0);
}

void cunei_format_place(struct cunei_buffer *out, const struct cunei_function *function,
                        const struct cunei_process *process)
{
    if (cunei_definition_of(function) == CUNEI_DEFINITION_REGION)
        cunei_buffer_append_text(out, "(region)");
    else if (function->file[0] || function->line > 0)
        cunei_buffer_format(out, "%s:%" PRIu32,
                            cunei_format_file(function->file, process), function->line);
    else
        cunei_buffer_format(out, "%s%s(C)", function->module,
                            function->module[0] ? " " : "");
}

void cunei_format_function(struct cunei_buffer *out,
                           const struct cunei_function *function)
{
    static const char whole[] = "<module>";

    /* Every module has one of these; only the program's own needs no name. */
    if (strcmp(function->qualname, whole) == 0 && function->module[0] &&
        strcmp(function->module, "__main__") != 0)
        cunei_buffer_format(out, "<module %s>", function->module);
    else
        cunei_format_name(out, function->qualname);
}
