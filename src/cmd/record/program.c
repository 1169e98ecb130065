// SPDX-License-Identifier: MIT
#include "cmd/record/program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/regular_file.h"
#include "cmd/common/calling_python.h"
#include "cmd/common/search_path.h"
#include "cmd/record/interpreter.h"
#include "python/interpreter_args.h"
#include "python/shebang.h"

char *cunei_program_default_python(void)
{
    char *path = cunei_calling_python() ? strdup(cunei_calling_python()) : NULL;

    if (!path)
        path = cunei_interpreter_beside_us();
    return path ? path : cunei_search_path_find("python3");
}

static bool has_ending(const char *word, const char *ending)
{
    size_t size = strlen(word), part = strlen(ending);

    return size > part && strcmp(word + size - part, ending) == 0;
}

static bool is_script_name(const char *word)
{
    return has_ending(word, ".py") || has_ending(word, ".pyz") ||
           has_ending(word, ".pyw") || has_ending(word, ".pyc");
}

/* The last part of a path, without slashes behind it. */
static char *last_part(const char *path)
{
    size_t size = strlen(path);
    while (size > 1 && path[size - 1] == '/')
        size--;
    size_t begin = size;
    while (begin > 0 && path[begin - 1] != '/')
        begin--;
    return strndup(path + begin, size - begin);
}

/* The same of a script or a folder, which may be called `.`. */
static char *base_name(const char *path)
{
    char *name = last_part(path);
    if (!name || (strcmp(name, ".") != 0 && strcmp(name, "..") != 0))
        return name;
    char *absolute = realpath(path, NULL);
    if (!absolute)
        return name;
    free(name);
    name = last_part(absolute);
    free(absolute);
    return name;
}

/* What `-m name`, `-c code`, `-` and scripts are called. */
static char *name_words(int argc, char **argv, struct cunei_interpreter_args words)
{
    if (words.kind == 'm' && words.program > 0 && words.program < argc) {
        const char *module = argv[words.program];
        return strdup(strncmp(module, "-m", 2) == 0 ? module + 2 : module);
    }
    if (words.kind == 'c' || !words.program || strcmp(argv[words.program], "-") == 0)
        return strdup("python");
    return base_name(argv[words.program]);
}

char *cunei_program_name_of_command(int argc, char **argv)
{
    struct cunei_interpreter_args words = cunei_interpreter_args_parse(argc, argv);

    return words.program > 0 && words.program < argc ? name_words(argc, argv, words)
                                                     : base_name(argv[0]);
}

/* Put `first` and the words of `between` before the others. */
static bool set_words(struct cunei_program *program, char *first, char **between,
                      int between_count, int argc, char **argv)
{
    size_t count = 0;

    program->words =
        calloc((size_t)argc + (size_t)between_count + 2, sizeof(*program->words));
    if (!program->words)
        return false;
    program->words[count++] = first;
    for (int i = 0; i < between_count; i++)
        program->words[count++] = between[i];
    for (int i = 0; i < argc; i++)
        program->words[count++] = argv[i];
    return true;
}

/* The Python that was asked for, or the one that is there. */
static bool choose_python(struct cunei_program *program, const char *wanted,
                          struct cunei_buffer *reason)
{
    program->path =
        wanted ? cunei_search_path_find(wanted) : cunei_program_default_python();
    if (!program->path && wanted)
        cunei_buffer_format(reason,
                            "there is no Python '%s'; --python needs a path, or "
                            "a name in PATH",
                            wanted);
    else if (!program->path)
        cunei_buffer_append_text(reason, "there is no python3 in PATH; choose a Python "
                                         "with --python");
    else
        program->python = strdup(program->path);
    return program->python != NULL;
}

/* A script, or words that begin with -m, -c or -: a Python's own. */
static bool by_python(struct cunei_program *program, int argc, char **argv,
                      const char *python, struct cunei_buffer *reason)
{
    char **options = NULL;

    if (argv[0][0] != '-') {
        if (access(argv[0], F_OK) < 0) {
            cunei_buffer_format(reason, "cannot run '%s': %s", argv[0],
                                strerror(errno));
            return false;
        }
        if (access(argv[0], R_OK) < 0) {
            cunei_buffer_format(reason, "cannot read '%s': %s", argv[0],
                                strerror(errno));
            return false;
        }
    }
    int count = python ? 0 : cunei_calling_python_words(&options);
    if (!choose_python(program, python, reason) ||
        !set_words(program, program->path, options, count, argc, argv))
        return false;
    int all = 1 + count + argc;
    struct cunei_interpreter_args words =
        cunei_interpreter_args_parse(all, program->words);
    memcpy(program->flags, words.flags, sizeof(words.flags));
    program->no_site = words.no_site;
    program->name = name_words(all, program->words, words);
    return true;
}

/* `python3.13 -X dev app.py`. */
static bool named_python(struct cunei_program *program, int argc, char **argv,
                         const char *python, struct cunei_buffer *reason)
{
    struct cunei_interpreter_args words = cunei_interpreter_args_parse(argc, argv);

    if (python) {
        if (!choose_python(program, python, reason))
            return false;
    } else if (!(program->path = cunei_search_path_find(argv[0]))) {
        cunei_buffer_format(reason, "cannot run '%s': there is no such Python%s",
                            argv[0], strchr(argv[0], '/') ? "" : " in PATH");
        return false;
    } else
        program->python = strdup(program->path);
    if (!words.kind && words.program && strcmp(argv[words.program], "-") != 0 &&
        access(argv[words.program], F_OK) < 0) {
        cunei_buffer_format(reason, "cannot run '%s': %s", argv[words.program],
                            strerror(errno));
        return false;
    }
    memcpy(program->flags, words.flags, sizeof(words.flags));
    program->no_site = words.no_site;
    program->name = name_words(argc, argv, words);
    return set_words(program, python ? program->path : argv[0], NULL, 0, argc - 1,
                     argv + 1);
}

/*
 * The script's first line, with the Python that it names found through PATH.  A Python
 * that is not found keeps its name, for the error message.
 */
static struct cunei_shebang read_shebang(const char *path)
{
    struct cunei_shebang shebang = cunei_shebang_read(path);
    char *found = shebang.python ? cunei_search_path_find(shebang.python) : NULL;

    if (found) {
        free(shebang.python);
        shebang.python = found;
    }
    return shebang;
}

/* A file that the system can execute; its first line may name a Python. */
static bool by_system(struct cunei_program *program, int argc, char **argv,
                      const char *python, struct cunei_buffer *reason)
{
    struct cunei_shebang shebang = read_shebang(program->path);

    program->name = base_name(argv[0]);
    program->python = shebang.python;
    if (!python) {
        memcpy(program->flags, shebang.flags, sizeof(shebang.flags));
        program->no_site = shebang.no_site;
        return set_words(program, argv[0], NULL, 0, argc - 1, argv + 1);
    }
    if (!shebang.python) {
        cunei_buffer_format(
            reason, "--python has no effect on '%s', which is not a Python program",
            argv[0]);
        return false;
    }
    free(program->python);
    program->python = NULL;
    program->script = program->path;
    program->path = NULL;
    return choose_python(program, python, reason) &&
           set_words(program, program->path, &program->script, 1, argc - 1, argv + 1);
}

/* A file here that the system does not execute by that word. */
static bool by_file(struct cunei_program *program, int argc, char **argv,
                    const char *python, struct cunei_buffer *reason)
{
    char *inside = NULL;

    if (cunei_is_directory(argv[0])) {
        if (asprintf(&inside, "%s/__main__.py", argv[0]) < 0)
            return false;
        bool runs = access(inside, F_OK) == 0;
        free(inside);
        if (runs)
            return by_python(program, argc, argv, python, reason);
        cunei_buffer_format(reason, "cannot run '%s': the directory has no __main__.py",
                            argv[0]);
        return false;
    }
    struct cunei_shebang shebang = read_shebang(argv[0]);
    bool foreign = shebang.exists && !shebang.python;
    free(shebang.python);
    if (!foreign)
        return by_python(program, argc, argv, python, reason);
    cunei_buffer_format(reason, "cannot run '%s': it is not a Python program, and %s",
                        argv[0],
                        strchr(argv[0], '/') ? "not executable" : "not in PATH");
    return false;
}

static bool find(struct cunei_program *program, int argc, char **argv,
                 const char *python, struct cunei_buffer *reason)
{
    const char *word = argv[0];

    if (word[0] == '-' || is_script_name(word))
        return by_python(program, argc, argv, python, reason);
    if (cunei_python_is_named(word) && !cunei_is_directory(word))
        return named_python(program, argc, argv, python, reason);
    program->path = cunei_search_path_find(word);
    if (program->path)
        return by_system(program, argc, argv, python, reason);
    if (access(word, F_OK) == 0)
        return by_file(program, argc, argv, python, reason);
    if (strchr(word, '/'))
        cunei_buffer_format(reason, "cannot run '%s': %s", word, strerror(errno));
    else
        cunei_buffer_format(reason,
                            "cannot run '%s': there is no such file here, and no such "
                            "command in PATH",
                            word);
    return false;
}

bool cunei_program_find(struct cunei_program *program, int argc, char **argv,
                        const char *python, struct cunei_buffer *reason)
{
    if (find(program, argc, argv, python, reason) && program->name)
        return true;
    if (!reason->size)
        cunei_buffer_format(reason, "cannot run '%s': %s", argv[0], strerror(ENOMEM));
    return false;
}

char *cunei_program_folder(const struct cunei_program *program)
{
    int count = 0;

    if (!program->words)
        return NULL;
    while (program->words[count])
        count++;
    struct cunei_interpreter_args words =
        cunei_interpreter_args_parse(count, program->words);
    bool is_script = words.program > 0 && words.program < count && !words.kind;
    const char *script = is_script ? program->words[words.program] : "";
    const char *slash = strrchr(script, '/');
    return slash ? strndup(script, (size_t)(slash - script)) : strdup(".");
}

void cunei_program_fini(struct cunei_program *program)
{
    free(program->path);
    free(program->words);
    free(program->script);
    free(program->name);
    free(program->python);
    *program = (struct cunei_program){0};
}
