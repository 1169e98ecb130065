// SPDX-License-Identifier: MIT
#include "cmd/report_follow.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "analysis/follow.h"
#include "cmd/common/follow_wait.h"
#include "cmd/common/message.h"
#include "cmd/common/open_trace.h"
#include "cmd/common/output.h"
#include "cmd/report_show.h"
#include "python/refusals.h"
#include "report/report.h"

#define ENTER_SCREEN "\033[?1049h\033[?25l"
#define LEAVE_SCREEN "\033[?25h\033[?1049l"
#define TO_TOP       "\033[H"
#define CLEAR_LINE   "\033[K"
#define CLEAR_BELOW  "\033[J"

struct display {
    const char *path;
    const struct cunei_report_options *wanted;
    struct cunei_analysis_follow *follow;
    bool is_screen; /* redrawn in place, on a terminal */
    bool is_drawn;
    bool has_printed;
    struct cunei_report_missing missing; /* of the last report */
};

/* The report of what was read so far; owned by the caller. */
static int render(struct display *display, char **text, size_t *size)
{
    struct cunei_report_options options = *display->wanted;
    struct cunei_refusals refusals = {0};
    struct cunei_trace_error damage;
    struct cunei_analysis analysis;

    options.is_line = true;
    options.style = cunei_output_style(stdout);
    if (!isatty(STDOUT_FILENO) && !getenv("COLUMNS"))
        options.style.width = 0;
    cunei_report_missing_fini(&display->missing);
    options.missing = &display->missing;
    int rc = cunei_analysis_follow_sum(display->follow, &analysis);
    if (rc < 0)
        return rc;
    cunei_cmd_read_refusals(display->path, cunei_analysis_follow_trace(display->follow),
                            &refusals);
    options.refusals = &refusals;
    FILE *out = open_memstream(text, size);
    rc = out ? cunei_report_print_sum(&analysis, &options, out, &damage) : -ENOMEM;
    if (out && fclose(out) != 0 && rc >= 0)
        rc = -ENOMEM;
    cunei_analysis_fini(&analysis);
    cunei_refusals_fini(&refusals);
    return rc == -EBADMSG ? 0 : rc;
}

static size_t screen_lines(void)
{
    struct winsize size;

    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 1
               ? size.ws_row - 1u
               : 24;
}

/* As many lines as fit, over those of the last time. */
static void draw(struct display *display, const char *text)
{
    if (!display->is_drawn) {
        cunei_follow_wait_part_with(LEAVE_SCREEN);
        (void)fputs(ENTER_SCREEN, stdout);
    }
    display->is_drawn = true;
    (void)fputs(TO_TOP, stdout);
    for (size_t left = screen_lines(); left > 0 && *text; left--) {
        size_t length = strcspn(text, "\n");
        (void)fwrite(text, 1, length, stdout);
        (void)fputs(CLEAR_LINE "\n", stdout);
        text += length + (text[length] == '\n');
    }
    (void)fputs(CLEAR_BELOW, stdout);
}

static void leave_screen(struct display *display)
{
    if (display->is_drawn)
        (void)fputs(LEAVE_SCREEN, stdout);
    display->is_drawn = false;
}

static void print(struct display *display, const char *text)
{
    if (display->has_printed && !display->wanted->json)
        (void)fputs("\n----------------------------------------\n\n", stdout);
    (void)fputs(text, stdout);
    display->has_printed = true;
}

/* A name that nothing matches yet may still come. */
static bool may_come(int rc)
{
    return rc == -ENOENT || rc == -ENODATA;
}

static int show(struct display *display, bool is_last)
{
    char *text = NULL;
    size_t size = 0;

    int rc = render(display, &text, &size);
    if (is_last)
        leave_screen(display);
    if (rc == 0 && display->is_screen && !is_last)
        draw(display, text);
    else if (rc == 0)
        print(display, text);
    free(text);
    if (fflush(stdout) != 0)
        return -errno;
    return may_come(rc) && !is_last ? 0 : rc;
}

/* Take in all that is there. */
static int catch_up(struct cunei_analysis_follow *follow)
{
    int rc;

    do
        rc = cunei_analysis_follow_poll(follow);
    while (rc == 2);
    return rc;
}

static bool has_events(const struct cunei_analysis_follow *follow)
{
    return cunei_analysis_follow_trace(follow)->process_count > 0;
}

/* The recording has ended by itself: its report is that of the finished trace. */
static int show_end(struct display *display)
{
    struct cunei_report_options options = *display->wanted;

    leave_screen(display);
    if (cunei_analysis_follow_is_exact(display->follow))
        return show(display, true);
    if (display->has_printed && !options.json)
        print(display, "");
    options.is_line = true;
    options.style = cunei_output_style(stdout);
    int status = cunei_report_show(display->path, &options, stdout);
    return status == EXIT_SUCCESS ? 0 : status;
}

/* A negative errno, or the exit status. */
static int follow(struct display *display, uint64_t interval_ns)
{
    bool is_noted = false;

    for (;;) {
        int rc = catch_up(display->follow);
        if (rc < 0)
            return rc;
        if (rc == 0)
            return show_end(display);
        if (has_events(display->follow))
            rc = show(display, false);
        else if (!is_noted) {
            is_noted = true;
            cunei_cmd_note("waiting for a recording in '%s'", display->path);
        }
        if (rc < 0)
            return rc;
        switch (cunei_follow_wait(interval_ns, STDOUT_FILENO)) {
        case CUNEI_FOLLOW_ASKED:
            rc = catch_up(display->follow);
            if (rc < 0 || !has_events(display->follow))
                return rc < 0 ? rc : 0;
            return show(display, true);
        case CUNEI_FOLLOW_UNREAD:
            return 0;
        default:
            break;
        }
    }
}

int cunei_report_follow(const char *path, const struct cunei_report_options *wanted,
                        uint64_t interval_ns)
{
    const struct cunei_analysis_options options = cunei_report_wanted(wanted);
    struct display display = {.path = path,
                              .wanted = wanted,
                              .is_screen = isatty(STDOUT_FILENO) && !wanted->json};
    struct cunei_trace_error error;

    int rc = cunei_analysis_follow_open(&display.follow, path, &options, &error);
    if (rc < 0)
        return cunei_cmd_fail_to_open(rc, path, &error);
    cunei_follow_wait_begin();
    rc = follow(&display, interval_ns);
    leave_screen(&display);
    (void)fflush(stdout);
    cunei_analysis_follow_close(display.follow);
    if (may_come(rc))
        return cunei_cmd_fail(0, "no function called in '%s' matches '%s'", path,
                              display.missing.name);
    cunei_report_missing_fini(&display.missing);
    if (rc == -EPIPE)
        return EXIT_SUCCESS;
    return rc < 0 ? cunei_cmd_fail(rc, "cannot follow '%s'", path) : rc;
}
