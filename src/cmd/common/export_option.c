// SPDX-License-Identifier: MIT
#include "cmd/common/export_option.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buffer.h"
#include "cmd/common/message.h"
#include "cmd/common/open_trace.h"
#include "cmd/common/output_file.h"
#include "cmd/common/progress_bar.h"
#include "cmd/common/viewer.h"
#include "cmd/suggest/suggestion.h"
#include "export/formats.h"
#include "text/format.h"
#include "trace/directory/trace.h"

const struct cunei_option cunei_export_option_options[] = {
    {.name = "to",
     .kind = CUNEI_OPTION_ONCE,
     .value = "FORMAT[:FILE]",
     .help = "also export the trace; 'cunei export --list' lists the\nformats",
     .offset = offsetof(struct cunei_export_option, to)},
    {.name = "open",
     .kind = CUNEI_OPTION_FLAG,
     .help = "open the exported file",
     .offset = offsetof(struct cunei_export_option, open)},
    {.name = "hide-source",
     .kind = CUNEI_OPTION_FLAG,
     .help = "html: do not include the source of functions",
     .offset = offsetof(struct cunei_export_option, hide_source)},
    {0},
};

static int unknown_format(const char *to)
{
    char *name = strndup(to, strcspn(to, ":"));
    struct cunei_suggestion nearest = {.word = name ? name : ""};
    struct cunei_buffer names = {0}, advice = {0};

    for (const struct cunei_export_format *format = cunei_export_formats; format->name;
         format++) {
        cunei_suggestion_offer(&nearest, format->name);
        cunei_buffer_format(&names, "%s%s", names.size ? ", " : "", format->name);
    }
    cunei_suggestion_format(&nearest, "", NULL, &advice);
    cunei_buffer_format(&advice, "%s formats are %s", advice.size ? " The" : "; the",
                        names.data);
    int status = cunei_cmd_usage("unknown format '%s'%s", nearest.word, advice.data);
    free(name);
    cunei_buffer_fini(&advice);
    cunei_buffer_fini(&names);
    return status;
}

/* FORMAT or FORMAT:FILE; returns the file, or NULL. */
static const char *find_format(struct cunei_export_option *exporting)
{
    const char *colon = strchr(exporting->to, ':');
    size_t size = colon ? (size_t)(colon - exporting->to) : strlen(exporting->to);

    exporting->format = cunei_export_find(exporting->to, size);
    return colon ? colon + 1 : NULL;
}

char *cunei_export_option_name(const char *path)
{
    char *real = realpath(path, NULL);
    const char *last = real ? strrchr(real, '/') : NULL;
    char *name = strdup(last && last[1] ? last + 1 : "trace");

    free(real);
    return name;
}

/* app.py is exported to app.json, not to app.py.json. */
static int stem_size(const char *name)
{
    size_t size = strlen(name);
    bool is_script = size > 3 && strcmp(name + size - 3, ".py") == 0;

    return (int)(is_script ? size - 3 : size);
}

/* Without slashes at its end: a suffix is added until the file is complete. */
static size_t name_size(const char *path)
{
    size_t size = strlen(path);

    while (size > 1 && path[size - 1] == '/')
        size--;
    return size;
}

/* As cunei_options_parse. */
static int check_file(const struct cunei_export_option *exporting)
{
    const struct cunei_export_format *format = exporting->format;
    bool is_stdout = strcmp(exporting->file, "-") == 0;

    if (is_stdout && !exporting->has_stdout)
        return cunei_cmd_usage(
            "--to %s:- is not possible: stdout is the program's; name a file",
            format->name);
    if (is_stdout && exporting->open)
        return cunei_cmd_usage("--open needs a file, but - is stdout");
    int status =
        cunei_output_file_check(exporting->file, format->is_folder, exporting->force);
    return status == EXIT_SUCCESS ? CUNEI_OPTIONS_CONTINUE : status;
}

int cunei_export_option_prepare(struct cunei_export_option *exporting, const char *name,
                                bool force)
{
    struct cunei_buffer file = {0};

    if (!exporting->to && exporting->open)
        return cunei_cmd_usage("--open needs an exported file: add --to html");
    const char *wanted = exporting->to ? find_format(exporting) : NULL;
    if (exporting->to && !exporting->format)
        return unknown_format(exporting->to);
    if (exporting->hide_source &&
        (!exporting->to || strcmp(exporting->format->name, "html") != 0))
        return cunei_cmd_usage("--hide-source needs --to html: nothing else contains "
                               "source");
    if (!exporting->to)
        return CUNEI_OPTIONS_CONTINUE;
    if (cunei_export_lacks(exporting->format, &file)) {
        int code = cunei_cmd_fail(0, "cannot export to %s: %s", exporting->format->name,
                                  file.data);
        cunei_buffer_fini(&file);
        return code;
    }
    exporting->force |= force;
    if (wanted && wanted[0])
        cunei_buffer_append(&file, wanted, name_size(wanted));
    else
        cunei_buffer_format(&file, "%.*s%s", stem_size(name), name,
                            exporting->format->extension);
    exporting->file = file.data;
    if (file.failed)
        return cunei_cmd_fail(-ENOMEM, "cannot export to %s", exporting->format->name);
    return check_file(exporting);
}

void cunei_export_option_fini(struct cunei_export_option *exporting)
{
    free(exporting->file);
    exporting->file = NULL;
}

static int fail(const struct cunei_export_option *exporting,
                const struct cunei_export *export, const char *path, int rc)
{
    if (rc == -ESRCH && export->unmatched)
        return cunei_cmd_fail_to_find_thread(path, export->unmatched);
    if (rc == -ENODATA)
        return cunei_cmd_fail(
            0,
            "--include, --exclude and --only-project leave no function of '%s'; " CUNEI_EXPORTING_PATTERNS,
            path);
    if (rc == -ERANGE)
        return cunei_cmd_fail(0,
                              "nothing was recorded between --from and --until; "
                              "'cunei info %s' shows how long the recording is",
                              path);
    if (rc == -ENOMEM)
        return cunei_cmd_fail(0, "not enough memory to export '%s'", path);
    if (strcmp(exporting->file, "-") == 0)
        return cunei_cmd_fail(rc, "cannot write to stdout");
    return cunei_cmd_fail(rc, "cannot write to '%s'", exporting->file);
}

static void print_summary(const struct cunei_export_option *exporting, uint64_t calls)
{
    struct cunei_buffer text = {0};
    struct stat status;

    cunei_format_several(&text, calls, "call");
    if (stat(exporting->file, &status) == 0 && S_ISREG(status.st_mode)) {
        cunei_buffer_append_text(&text, ", ");
        cunei_format_size(&text, (uint64_t)status.st_size);
    }
    cunei_buffer_append_text(&text, "; ");
    cunei_viewer_format_how(exporting->format, exporting->file, &text);
    cunei_cmd_note("wrote '%s': %s", exporting->file, text.data);
    cunei_buffer_fini(&text);
}

static void warn_if_large(const struct cunei_export_format *format, uint64_t bytes)
{
    const struct cunei_export_format *instead = cunei_export_instead(format, bytes);

    if (instead)
        cunei_cmd_note(
            "viewers are slow with a file this large: --to %s is much smaller, "
            "or choose a part with --from and --until",
            instead->name);
}

static void warn_of_budget(const struct cunei_trace *trace)
{
    uint64_t budget = 0;

    for (size_t i = 0; i < trace->process_count; i++) {
        const struct cunei_process *process = &trace->processes[i].description;
        budget = process->budget > budget ? process->budget : budget;
    }
    if (budget > 0)
        cunei_cmd_note(
            "recorded with a budget of %g %%: very frequent functions were sampled, so "
            "their sums are estimates, and timelines and call paths lack most of their "
            "calls; 'cunei report' marks them",
            (double)budget / 1e4);
}

static void warn_of_losses(const struct cunei_export *export)
{
    struct cunei_buffer text = {0};

    if (export->lost > 0)
        cunei_format_several(&text, export->lost, "event");
    /* Damage is reported already, and explains missing packets. */
    if (export->missing_packets > 0 && export->damage_count == 0) {
        cunei_buffer_append_text(&text, text.size ? " and " : "");
        cunei_format_several(&text, export->missing_packets, "packet");
    }
    if (text.size)
        cunei_cmd_note("the recording lost %s, so times and calls are too low",
                       text.data);
    if (export->is_folded)
        cunei_cmd_note(CUNEI_EXPORTING_FOLDED);
    warn_of_budget(export->trace);
    cunei_buffer_fini(&text);
}

static int export_to(const struct cunei_export_option *exporting,
                     struct cunei_export *export, const char *path)
{
    const struct cunei_export_format *format = exporting->format;
    struct cunei_output_file target;

    int status = cunei_output_file_open(&target, exporting->file, format->is_folder,
                                        exporting->force);
    if (status != EXIT_SUCCESS)
        return status;
    export->out = target.out;
    export->folder = target.folder;
    int rc = cunei_export_write(export, format);
    cunei_progress_bar_clear(export->options->progress_context);
    rc = cunei_output_file_close(&target, rc);
    if (rc < 0)
        return fail(exporting, export, path, rc);
    if (export->damage_count > 0)
        status = cunei_cmd_fail(0, "%s; '%s' contains what could be read",
                                export->damage.text, exporting->file);
    else if (strcmp(exporting->file, "-") != 0)
        print_summary(exporting, export->calls);
    warn_if_large(format, export->bytes);
    warn_of_losses(export);
    if (exporting->open)
        cunei_viewer_open(format, exporting->file);
    return status;
}

int cunei_export_option_write(const struct cunei_export_option *exporting,
                              const char *path,
                              const struct cunei_export_options *options)
{
    struct cunei_export_options settled = CUNEI_EXPORT_DEFAULTS;
    struct cunei_progress_bar progress = {.what = "exporting"};
    struct cunei_trace trace;

    int status = cunei_cmd_open_trace(path, &trace);
    if (status != EXIT_SUCCESS)
        return status;
    if (options)
        settled = *options;
    settled.hide_source = exporting->hide_source;
    settled.progress = cunei_progress_bar_show;
    settled.progress_context = &progress;
    struct cunei_export export = {.trace = &trace, .options = &settled};
    status = cunei_cmd_check_choice(&trace, path, &settled.processes);
    if (status == EXIT_SUCCESS)
        status = export_to(exporting, &export, path);
    cunei_export_fini(&export);
    cunei_trace_close(&trace);
    return status;
}
