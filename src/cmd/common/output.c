// SPDX-License-Identifier: MIT
#include "cmd/common/output.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/common/search_path.h"

/* The width if neither a terminal nor COLUMNS has one. */
#define DEFAULT_WIDTH 100u
#define WIDTH_MIN     40u
#define WIDTH_MAX     400u

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);
    return value && value[0];
}

/* 0: it is no terminal, or one that does not say. */
static struct winsize terminal_size(int fd)
{
    struct winsize size = {0};

    if (!isatty(fd) || ioctl(fd, TIOCGWINSZ, &size) < 0)
        return (struct winsize){0};
    return size;
}

/* What goes to a file or a pipe is likely to be seen on the same terminal later. */
static unsigned find_width(int fd)
{
    unsigned width = terminal_size(fd).ws_col;
    const char *columns = getenv("COLUMNS");

    if (width == 0 && columns)
        width = (unsigned)strtoul(columns, NULL, 10);
    if (width == 0)
        width = terminal_size(STDERR_FILENO).ws_col;
    if (width == 0)
        return DEFAULT_WIDTH;
    return width < WIDTH_MIN ? WIDTH_MIN : width > WIDTH_MAX ? WIDTH_MAX : width;
}

struct cunei_style cunei_output_style(FILE *file)
{
    const char *terminal = getenv("TERM");
    int fd = fileno(file);

    /* Widths of characters depend on it; messages stay as they are. */
    if (!setlocale(LC_CTYPE, "C.UTF-8"))
        (void)setlocale(LC_CTYPE, "");
    return (struct cunei_style){
        .width = find_width(fd),
        .height = terminal_size(fd).ws_row,
        .color = isatty(fd) && !is_set("NO_COLOR") && terminal &&
                 strcmp(terminal, "dumb") != 0,
    };
}

/* The command line of the pager, owned by the caller; NULL: none. */
static char *find_pager(void)
{
    static const char *const variables[] = {"CUNEI_PAGER", "PAGER"};

    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        const char *value = getenv(variables[i]);
        if (value)
            return value[0] && strcmp(value, "cat") != 0 ? strdup(value) : NULL;
    }
    return cunei_search_path_find("less");
}

static _Noreturn void run_pager(const char *command, int input)
{
    (void)signal(SIGPIPE, SIG_DFL);
    (void)dup2(input, STDIN_FILENO);
    (void)setenv("LESS", "FRX", 0);
    (void)setenv("LESSCHARSET", "utf-8", 0);
    (void)execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(127);
}

/* A pipe to a pager; NULL: no pager. */
static FILE *open_pager(pid_t *pid)
{
    FILE *out = NULL;
    int ends[2] = {-1, -1};
    char *command = find_pager();

    if (!command || pipe2(ends, O_CLOEXEC) < 0)
        goto out;
    *pid = fork();
    if (*pid == 0)
        run_pager(command, ends[0]);
    if (*pid > 0)
        out = fdopen(ends[1], "w");
    if (out)
        ends[1] = -1;
    else
        *pid = 0;
out:
    free(command);
    if (ends[0] >= 0)
        close(ends[0]);
    if (ends[1] >= 0)
        close(ends[1]);
    return out;
}

static bool fits(int fd, size_t line_count)
{
    struct winsize size;

    return ioctl(fd, TIOCGWINSZ, &size) == 0 && line_count < size.ws_row;
}

void cunei_output_open(struct cunei_output *output, FILE *file, size_t line_count)
{
    *output = (struct cunei_output){.out = file, .style = cunei_output_style(file)};
    if (!isatty(fileno(file)) || fits(fileno(file), line_count))
        return;
    (void)fflush(file);
    FILE *pager = open_pager(&output->pager);
    if (!pager)
        return;
    output->out = pager;
    /* Quitting the pager early, or typing Ctrl-C in it, is not an error. */
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGINT, SIG_IGN);
}

int cunei_output_close(struct cunei_output *output)
{
    int rc = 0;

    errno = 0;
    if (output->pager > 0) {
        (void)fclose(output->out);
        while (waitpid(output->pager, NULL, 0) < 0 && errno == EINTR)
            continue;
    } else if (fflush(output->out) != 0 || ferror(output->out))
        rc = errno ? -errno : -EIO;
    *output = (struct cunei_output){0};
    return rc;
}
