// SPDX-License-Identifier: MIT
/* The table of commands, and the choice of one. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "cmd/cmd.h"
#include "cmd/common/calling_python.h"
#include "cmd/common/options.h"
#include "cmd/common/search_path.h"
#include "cmd/suggest/suggestion.h"
#include "trace/directory/open_options.h"
#include "trace/directory/process_folder.h"
#include "trace/directory/trace.h"

static const struct cunei_cmd *const commands[] = {
    &cunei_cmd_run,         &cunei_cmd_top,     &cunei_cmd_record,   &cunei_cmd_attach,
    &cunei_cmd_arm,         &cunei_cmd_report,  &cunei_cmd_view,     &cunei_cmd_export,
    &cunei_cmd_compare,     &cunei_cmd_filter,  &cunei_cmd_replay,   &cunei_cmd_dump,
    &cunei_cmd_info,        &cunei_cmd_list,    &cunei_cmd_snapshot, &cunei_cmd_watch,
    &cunei_cmd_try_trigger, &cunei_cmd_recover, &cunei_cmd_doctor,
};

#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

static void print_help(FILE *to)
{
    (void)fprintf(to,
                  "usage: cunei COMMAND …\n"
                  "\n"
                  "Record every call of a Python program, and analyze the recording.\n"
                  "\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        (void)fprintf(to, "  %-12s %s\n", commands[i]->name, commands[i]->summary);
    (void)fprintf(
        to, "\n"
            "  cunei run app.py              run it, then show where the time went\n"
            "  cunei record -o DIR app.py    record every call to DIR\n"
            "  cunei report DIR              show the report of a recording\n"
            "  cunei view DIR                show it in the browser\n"
            "\n"
            "Help on one command: cunei help COMMAND\n");
}

static const struct cunei_cmd *find_command(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    }
    return NULL;
}

/* Whether `word` names something to run rather than a command of ours. */
static bool is_program(const char *word)
{
    size_t size = strlen(word);

    if (strncmp(word, "-m", 2) == 0 || strncmp(word, "-c", 2) == 0 || strchr(word, '/'))
        return true;
    if ((size > 3 && strcmp(word + size - 3, ".py") == 0) ||
        (size > 4 && strcmp(word + size - 4, ".pyz") == 0))
        return true;
    return strncmp(word, "python", 6) == 0 || access(word, F_OK) == 0;
}

static bool is_in_path(const char *word)
{
    char *path = word[0] == '-' ? NULL : cunei_search_path_find(word);

    bool found = path != NULL;
    free(path);
    return found;
}

/* `python -m cunei app.py`: a program, or options of `cunei run`, for a command. */
static bool means_run(const char *word)
{
    return cunei_calling_python() &&
           (word[0] == '-' || is_program(word) || is_in_path(word));
}

/* `cunei -m pkg`, `cunei --vers`. */
static int unknown_option(char **words)
{
    struct cunei_suggestion nearest = {.word = words[0]};
    struct cunei_buffer text = {0};
    bool is_program = words[0][1] == 'm' || words[0][1] == 'c';

    if (is_program)
        return cunei_cmd_usage("no command '%s'; to run it and see where its time "
                               "goes: cunei run %s%s%s",
                               words[0], words[0], words[1] ? " " : "",
                               words[1] ? words[1] : "");
    cunei_suggestion_offer(&nearest, "--help");
    cunei_suggestion_offer(&nearest, "--version");
    cunei_suggestion_format(&nearest, "cunei ", "see 'cunei --help'", &text);
    int status = cunei_cmd_usage("no option '%s'%s", words[0], text.data);
    cunei_buffer_fini(&text);
    return status;
}

static bool is_trace(const char *path)
{
    struct cunei_trace trace;
    struct cunei_trace_error error;

    const struct cunei_trace_open_options opening = {.without_ring = true};

    if (cunei_trace_open_with(&trace, path, &opening, &error) < 0)
        return false;
    cunei_trace_close(&trace);
    return true;
}

static int unknown_command(char **words)
{
    const char *word = words[0];
    struct cunei_suggestion nearest = {.word = word};
    struct cunei_buffer text = {0};

    if (word[0] == '-' && word[1])
        return unknown_option(words);
    if (is_trace(word))
        return cunei_cmd_usage("no command '%s', but it is a trace; to see where the "
                               "time went: cunei report %s",
                               word, word);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        cunei_suggestion_offer(&nearest, commands[i]->name);
    cunei_suggestion_offer(&nearest, "help");
    if (is_program(word) || (!nearest.name && is_in_path(word)))
        return cunei_cmd_usage("no command '%s'; to run it and see where its time "
                               "goes: cunei run %s",
                               word, word);
    cunei_suggestion_format(&nearest, "cunei ", "see 'cunei --help'", &text);
    int status = cunei_cmd_usage("no command '%s'%s", word, text.data);
    cunei_buffer_fini(&text);
    return status;
}

static int show_help(char **words)
{
    if (words[0] && words[1])
        return cunei_cmd_usage("unexpected argument '%s'; usage: cunei help COMMAND",
                               words[1]);
    if (!words[0] || strcmp(words[0], "help") == 0) {
        print_help(stdout);
        return EXIT_SUCCESS;
    }
    const struct cunei_cmd *command = find_command(words[0]);
    if (!command)
        return unknown_command(words);
    cunei_options_print_help(command);
    return EXIT_SUCCESS;
}

/* The reader of our output is gone: no error message would reach it. */
static void leave_quietly(int signal_number)
{
    (void)signal_number;
    _exit(EXIT_FAILURE);
}

static int run_command(int argc, char **argv)
{
    const char *word = argv[1];

    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 ||
        strcmp(word, "help") == 0)
        return show_help(argv + 2);
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        printf("cunei %s\n", CUNEI_VERSION);
        return EXIT_SUCCESS;
    }
    const struct cunei_cmd *command = find_command(word);
    if (!command)
        return means_run(word) ? cunei_cmd_run.run(argc, argv)
                               : unknown_command(argv + 1);
    if (!command->takes_program)
        (void)sigaction(SIGPIPE, &(struct sigaction){.sa_handler = leave_quietly},
                        NULL);
    return command->run(argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
    int taken = cunei_calling_python_read(argv);

    argc -= taken;
    argv += taken;
    if (argc < 2) {
        print_help(stderr);
        return CUNEI_EXIT_USAGE;
    }
    int status = run_command(argc, argv);

    if ((fflush(stdout) != 0 || ferror(stdout)) && status == EXIT_SUCCESS)
        return errno == EPIPE ? EXIT_FAILURE
                              : cunei_cmd_fail(-errno, "cannot write the output");
    return status;
}
