// SPDX-License-Identifier: MIT
#include "text/names.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/buffer.h"
#include "python/command_line.h"
#include "text/format.h"
#include "text/terminal_text.h"
#include "wire/metadata.h"
#include "wire/process.h"
#include "wire/user_event.h"

/* The columns that a table has for the arguments of a command line. */
#define ARGUMENTS_WIDTH 60

/* The part of `file` after a directory of `size` bytes; NULL: it is elsewhere. */
static const char *below(const char *file, const char *directory, size_t size)
{
    if (size < 2 || strncmp(file, directory, size) != 0 || file[size] != '/')
        return NULL;
    return file + size + 1;
}

/* The file relative to the script's directory or to the working directory, or NULL. */
static const char *below_home(const char *file, const struct cunei_process *process)
{
    const char *script =
        cunei_command_line_read(process->executable, process->arguments,
                                process->argument_count)
            .script;
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

    /* First, because a virtual environment is often in the working directory. */
    for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
        const char *at = strstr(file, roots[i]);
        if (at)
            return at + strlen(roots[i]);
    }
    if (home)
        return home;
    const char *library = strstr(file, "/lib/python3");
    const char *end = library ? strchr(library + strlen("/lib/python3"), '/') : NULL;
    return end ? end + 1 : file;
}

void cunei_format_program(struct cunei_buffer *out, const struct cunei_process *process)
{
    struct cunei_command_line words = cunei_command_line_read(
        process->executable, process->arguments, process->argument_count);

    if (words.script[0])
        cunei_buffer_append_text(out, cunei_command_line_base(words.script));
    else if (words.code)
        cunei_buffer_append_text(out, "python -c");
    else if (words.module)
        cunei_buffer_format(out, "python -m%s%s", words.module[0] ? " " : "",
                            words.module);
    else
        cunei_buffer_append_text(out, "python");
}

/* The helper processes of multiprocessing and of pytest-xdist; NULL: it is another one.
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

/* A word after a space, on one line. */
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
    struct cunei_command_line words = cunei_command_line_read(
        process->executable, process->arguments, process->argument_count);
    const char *helper = words.code ? find_helper(words.code) : NULL;
    struct cunei_buffer text = {0};

    if (helper) {
        cunei_buffer_append_text(out, helper);
        return;
    }
    cunei_format_program(out, process);
    /* A forked process has the arguments of its parent. */
    if (process->forked)
        return;
    if (words.code && *words.code)
        put_word(&text, words.code);
    for (size_t i = words.rest; i < process->argument_count; i++)
        put_word(&text, process->arguments[i]);
    if (text.size > 0)
        cunei_terminal_text(out, text.data, ARGUMENTS_WIDTH);
    out->failed |= text.failed;
    cunei_buffer_fini(&text);
}

void cunei_format_process(struct cunei_buffer *out, const struct cunei_process *process)
{
    cunei_format_command(out, process);
    if (process->name && process->name[0])
        cunei_buffer_format(out, " · %s", process->name);
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

    /* Every module has such code; that of the program needs no name. */
    if (strcmp(function->qualname, whole) == 0 && function->module[0] &&
        strcmp(function->module, "__main__") != 0)
        cunei_buffer_format(out, "<module %s>", function->module);
    else
        cunei_format_name(out, function->qualname);
}
