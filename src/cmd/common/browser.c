// SPDX-License-Identifier: MIT
#include "cmd/common/browser.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "cmd/common/message.h"
#include "cmd/common/search_path.h"
#include "cmd/common/viewer.h"

#define DESKTOP    "xdg-open"
#define WORDS_MAX  16 /* of a command in $BROWSER */
#define HOST_BYTES 256

static bool is_set(const char *name)
{
    const char *value = getenv(name);

    return value && value[0];
}

/* Put the file where the command has %s, else behind it. */
static void add_file(char **words, int count, const char *file)
{
    char *path = (char *)(uintptr_t)file;

    for (int i = 1; i < count; i++) {
        if (strcmp(words[i], "%s") == 0) {
            words[i] = path;
            return;
        }
    }
    words[count] = path;
}

/* Run a command such as `firefox --new-window %s`, which is changed; false: it is not
 * installed, or it failed at once. */
static bool run_command(char *command, const char *file)
{
    char *words[WORDS_MAX + 2] = {NULL}, *rest = NULL;
    int count = 0;

    for (char *word = strtok_r(command, " ", &rest); word && count < WORDS_MAX;
         word = strtok_r(NULL, " ", &rest))
        words[count++] = word;
    char *program = count > 0 ? cunei_search_path_find(words[0]) : NULL;
    if (!program)
        return false;
    add_file(words, count, file);
    bool is_open = cunei_viewer_start(program, words) == 0;
    free(program);
    return is_open;
}

/* $BROWSER has one command, or several with colons between them. */
static bool try_chosen(const char *file)
{
    const char *chosen = getenv("BROWSER");
    char *commands = chosen && chosen[0] ? strdup(chosen) : NULL;
    char *rest = NULL;
    bool is_open = false;

    if (!commands)
        return false;
    for (char *command = strtok_r(commands, ":", &rest); command && !is_open;
         command = strtok_r(NULL, ":", &rest))
        is_open = run_command(command, file);
    free(commands);
    return is_open;
}

static bool has_display(void)
{
    return is_set("DISPLAY") || is_set("WAYLAND_DISPLAY");
}

/* Without a display, xdg-open would start a browser for the terminal, which cannot
 * show the page. */
static bool try_desktop(const char *file)
{
    char command[] = DESKTOP;

    return has_display() && run_command(command, file);
}

static void format_reason(struct cunei_buffer *reason)
{
    if (is_set("BROWSER"))
        cunei_buffer_format(reason, "$BROWSER, '%s', does not start",
                            getenv("BROWSER"));
    else if (has_display())
        cunei_buffer_append_text(reason, DESKTOP
                                 " does not start a browser, and $BROWSER is not set");
    else
        cunei_buffer_append_text(reason,
                                 "there is no display here, and $BROWSER is not set");
}

static void print_how(const char *file)
{
    struct cunei_buffer reason = {0};
    char host[HOST_BYTES] = "";

    format_reason(&reason);
    (void)gethostname(host, sizeof(host) - 1);
    if (is_set("SSH_CONNECTION") && host[0])
        cunei_cmd_note("cannot open a browser: %s; on your computer, run "
                       "scp '%s:%s' . and open the copy",
                       cunei_buffer_text(&reason), host, file);
    else
        cunei_cmd_note("cannot open a browser: %s; open '%s' in one, or copy it to "
                       "a computer that has one",
                       cunei_buffer_text(&reason), file);
    cunei_buffer_fini(&reason);
}

void cunei_browser_open(const char *file)
{
    if (!try_chosen(file) && !try_desktop(file))
        print_how(file);
}
