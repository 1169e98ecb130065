// SPDX-License-Identifier: MIT
/* `cunei view`: shows a trace in the browser. */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/safe_open.h"
#include "cmd/cmd.h"
#include "cmd/common/browser.h"
#include "cmd/common/export_option.h"
#include "cmd/common/export_part.h"
#include "cmd/common/options.h"
#include "cmd/common/temp_cleanup.h"

struct values {
    struct cunei_export_option exporting;
    struct cunei_export_part part;
};

static const struct cunei_option options[] = {
    {.kind = CUNEI_OPTION_TABLE,
     .table = cunei_export_part_options,
     .offset = offsetof(struct values, part)},
    {.name = "hide-source",
     .kind = CUNEI_OPTION_FLAG,
     .help = "do not include the source of functions",
     .offset = offsetof(struct values, exporting.hide_source)},
    {0},
};

static const char *temporary_folder(void)
{
    const char *path = getenv("TMPDIR");

    return path && path[0] ? path : "/tmp";
}

/* Make a folder that only the user can read, and remove it if a signal comes before
 * the page is complete.  Returns whether it could. */
static bool make_folder(struct cunei_buffer *path, struct cunei_file_id *id)
{
    sigset_t all, before;
    struct stat status;

    cunei_buffer_format(path, "%s/cunei-view-XXXXXX", temporary_folder());
    if (path->failed) {
        errno = ENOMEM;
        return false;
    }
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    bool is_made = mkdtemp(path->data) != NULL && lstat(path->data, &status) == 0;
    int error = errno;
    if (is_made) {
        *id = cunei_file_id_of(&status);
        cunei_temp_cleanup_watch(path->data, id);
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return is_made;
}

/* Write the page as a file of the folder; returns the exit status. */
static int write_page(struct values *values, const char *path, const char *folder)
{
    struct cunei_export_option *exporting = &values->exporting;
    struct cunei_buffer to = {0};
    char *name = cunei_export_option_name(path);

    cunei_buffer_format(&to, "html:%s/%s.html", folder, name ? name : "trace");
    exporting->to = cunei_buffer_text(&to);
    int status = cunei_export_option_prepare(exporting, "trace", false);
    if (status == CUNEI_OPTIONS_CONTINUE)
        status = cunei_export_option_write(exporting, path, &values->part.options);
    cunei_buffer_fini(&to);
    free(name);
    return status;
}

/* A page of a damaged trace is opened as well, with what could be read. */
static int view(struct values *values, const char *path)
{
    struct cunei_export_option *exporting = &values->exporting;
    struct cunei_buffer folder = {0};
    struct cunei_file_id id = {0};
    int status;

    if (make_folder(&folder, &id)) {
        status = write_page(values, path, folder.data);
        bool is_there = exporting->file && access(exporting->file, F_OK) == 0;
        if (!is_there)
            (void)cunei_temp_cleanup_remove(folder.data, &id);
        cunei_temp_cleanup_forget();
        if (is_there)
            cunei_browser_open(exporting->file);
    } else {
        status = cunei_cmd_fail(-errno, "cannot make a folder for the page in '%s'",
                                temporary_folder());
    }
    cunei_export_option_fini(exporting);
    cunei_buffer_fini(&folder);
    return status;
}

static int run_view(int argc, char **argv)
{
    struct values values = {.part = CUNEI_EXPORT_PART_DEFAULTS};

    int status = cunei_options_parse(&cunei_cmd_view, &argc, argv, &values);
    if (status == CUNEI_OPTIONS_CONTINUE)
        status = cunei_options_directory(&cunei_cmd_view, argc, argv);
    if (status == CUNEI_OPTIONS_CONTINUE)
        status = cunei_export_part_settle(&values.part);
    if (status == CUNEI_OPTIONS_CONTINUE)
        status = view(&values, argv[1]);
    cunei_export_part_fini(&values.part);
    return status;
}

const struct cunei_cmd cunei_cmd_view = {
    .name = "view",
    .args = "[options] DIR",
    .summary = "show a trace in the browser",
    .help =
        "Opens a trace in the browser: flame graph, functions, callers and source,\n"
        "timeline, details. The page is a temporary file that only you can read; 'cunei\n"
        "export --to html' writes it where you want it. $BROWSER chooses another browser.\n"
        "\n"
        "  cunei view DIR\n"
        "  cunei view DIR --from 1.2 --until 1.3 --thread 'worker*'",
    .options = options,
    .run = run_view,
};
