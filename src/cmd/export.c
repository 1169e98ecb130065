// SPDX-License-Identifier: MIT
/* `cunei export`: a trace for other people's tools. */
#include "export/export.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buffer.h"
#include "cmd/cmd.h"
#include "cmd/nearest.h"
#include "cmd/open.h"
#include "cmd/options.h"
#include "cmd/progress.h"
#include "cmd/target.h"
#include "cmd/window.h"
#include "trace/trace.h"
#include "view/format.h"

struct values {
    const char *to;
    const char *file;
    bool force;
    bool list;
    struct cunei_export_options export;
    struct cunei_window_values window;
    struct cunei_option_list processes; /* owned */
};

static const struct cunei_option options[] = {
    {.name = "to",
     .kind = CUNEI_OPTION_TEXT,
     .value = "FORMAT",
     .help = "which format; --list shows them",
     .offset = offsetof(struct values, to)},
    {.name = "output",
     .letter = 'o',
     .kind = CUNEI_OPTION_TEXT,
     .value = "FILE",
     .help = "write it there; - is stdout (default: the directory's\nname with the "
             "format's extension)",
     .offset = offsetof(struct values, file)},
    {.name = "force",
     .letter = 'f',
     .kind = CUNEI_OPTION_FLAG,
     .help = "overwrite a file that exists",
     .offset = offsetof(struct values, force)},
    {.kind = CUNEI_OPTION_TABLE,
     .table = cunei_window_options,
     .offset = offsetof(struct values, window)},
    {.name = "thread",
     .letter = 't',
     .kind = CUNEI_OPTION_TEXT,
     .value = "ID|NAME",
     .help = "one thread, or those whose names match a glob",
     .offset = offsetof(struct values, export.thread)},
    {.name = "process",
     .letter = 'p',
     .kind = CUNEI_OPTION_LIST,
     .value = "P",
     .help = "one process of several, by pid, folder or name;\nrepeatable",
     .offset = offsetof(struct values, processes)},
    {.name = "include",
     .kind = CUNEI_OPTION_INCLUDE,
     .value = "PATTERN",
     .help = "functions that match; see 'cunei help record'",
     .offset = offsetof(struct values, export.patterns)},
    {.name = "exclude",
     .kind = CUNEI_OPTION_EXCLUDE,
     .value = "PATTERN",
     .help = "no functions that match; the last pattern decides",
     .offset = offsetof(struct values, export.patterns)},
    {.name = "names",
     .kind = CUNEI_OPTION_FLAG,
     .help = "ctf: every function an event class, also those beyond\nthe first 20 000",
     .offset = offsetof(struct values, export.names)},
    {.name = "list",
     .letter = 'l',
     .kind = CUNEI_OPTION_FLAG,
     .help = "list the formats, and how to open each",
     .offset = offsetof(struct values, list)},
    {0},
};

static int show_list(void)
{
    const struct cunei_export_format *format = cunei_export_formats;

    for (; format->name; format++)
        printf("%-11s %-10s %s\n%22s %s\n", format->name, format->extension,
               format->viewers, "", format->how);
    return EXIT_SUCCESS;
}

static int unknown_format(const char *name)
{
    struct cunei_nearest nearest = {.word = name};
    struct cunei_buffer names = {0};

    for (const struct cunei_export_format *format = cunei_export_formats; format->name;
         format++) {
        cunei_nearest_offer(&nearest, format->name);
        cunei_buffer_format(&names, "%s%s", names.size ? ", " : "", format->name);
    }
    int status = cunei_cmd_usage("no format '%s'%s%s%s; there are %s", name,
                                 nearest.name ? "; did you mean '" : "",
                                 nearest.name ? nearest.name : "",
                                 nearest.name ? "'?" : "", names.data);
    cunei_buffer_fini(&names);
    return status;
}

static int fail(const struct values *values, const char *path, const char *file, int rc)
{
    if (rc == -ESRCH)
        return cunei_cmd_fail(0,
                              "'%s' holds no such %s; 'cunei report %s --threads' "
                              "lists them",
                              path, values->export.thread ? "thread" : "process", path);
    if (rc == -ERANGE)
        return cunei_cmd_fail(0,
                              "nothing was recorded between --from and --until; "
                              "'cunei info %s' tells how long it took",
                              path);
    return cunei_cmd_fail(rc, "cannot write '%s'", file);
}

static void say_what_was_written(const struct cunei_export_format *format,
                                 const char *file, uint64_t calls)
{
    struct cunei_buffer text = {0};
    struct stat status;

    cunei_format_several(&text, calls, "call");
    if (stat(file, &status) == 0 && S_ISREG(status.st_mode)) {
        cunei_buffer_append_text(&text, ", ");
        cunei_format_size(&text, (uint64_t)status.st_size);
    }
    cunei_cmd_note("'%s' holds %s; %s", file, text.data, format->how);
    cunei_buffer_fini(&text);
}

static int export_trace(struct values *values, const char *path,
                        const struct cunei_export_format *format, const char *file)
{
    struct cunei_progress progress = {.what = "exporting"};
    struct cunei_trace trace;
    struct cunei_target target;

    int status = cunei_cmd_open_trace(path, &trace);
    if (status != 0)
        return status;
    status = cunei_cmd_check_choice(&trace, path, &values->export.processes);
    if (status == 0)
        status = cunei_target_open(&target, file, format->is_folder, values->force);
    if (status != 0) {
        cunei_trace_close(&trace);
        return status;
    }
    values->export.progress = cunei_progress_show;
    values->export.progress_context = &progress;
    struct cunei_export export = {
        .trace = &trace,
        .options = &values->export,
        .out = target.out,
        .folder = target.part,
    };
    int rc = cunei_export_write(&export, format);
    cunei_progress_clear(&progress);
    rc = cunei_target_close(&target, rc);
    if (rc < 0)
        status = fail(values, path, file, rc);
    else if (export.damage_count > 0)
        status = cunei_cmd_fail(0, "%s; what could be read is in '%s'",
                                export.damage.text, file);
    else if (strcmp(file, "-") != 0)
        say_what_was_written(format, file, export.calls);
    cunei_export_fini(&export);
    cunei_trace_close(&trace);
    return status;
}

/* The directory's own name with the extension, in the current one. */
static char *default_file(const char *path, const struct cunei_export_format *format)
{
    struct cunei_buffer name = {0};
    char *real = realpath(path, NULL);
    const char *last = real ? strrchr(real, '/') : NULL;

    cunei_buffer_format(&name, "%s%s", last && last[1] ? last + 1 : "trace",
                        format->extension);
    free(real);
    return name.data;
}

static int run_export(int argc, char **argv)
{
    struct values values = {.export = CUNEI_EXPORT_DEFAULTS};
    const struct cunei_export_format *format = NULL;

    int status = cunei_options_parse(&cunei_cmd_export, &argc, argv, &values);
    if (status == CUNEI_OPTIONS_GO_ON && values.list)
        status = show_list();
    if (status == CUNEI_OPTIONS_GO_ON)
        status = cunei_options_directory(&cunei_cmd_export, argc, argv);
    if (status == CUNEI_OPTIONS_GO_ON && !values.to)
        status = cunei_cmd_usage("export wants a format: --to perfetto; 'cunei export "
                                 "--list' shows them");
    if (status == CUNEI_OPTIONS_GO_ON && !(format = cunei_export_find(values.to)))
        status = unknown_format(values.to);
    if (status == CUNEI_OPTIONS_GO_ON && !format->write)
        status = cunei_cmd_fail(0,
                                "cannot export to %s: cunei was built without %s; "
                                "install it and cunei again",
                                format->name, format->missing);
    if (status == CUNEI_OPTIONS_GO_ON)
        status = cunei_window_settle(&values.window);
    if (status == CUNEI_OPTIONS_GO_ON) {
        char *file = values.file ? NULL : default_file(argv[1], format);
        values.export.from_ns = values.window.from_ns;
        values.export.until_ns = values.window.until_ns;
        values.export.processes =
            (struct cunei_trace_choice){values.processes.items, values.processes.count};
        status =
            export_trace(&values, argv[1], format, values.file ? values.file : file);
        free(file);
    }
    cunei_option_list_fini(&values.processes);
    cunei_patterns_fini(&values.export.patterns);
    return status;
}

const struct cunei_cmd cunei_cmd_export = {
    .name = "export",
    .args = "[options] DIR --to FORMAT",
    .summary = "write a trace for other people's tools",
    .help =
        "Writes what was recorded in a format that another tool reads: a timeline for\n"
        "Perfetto, a profile for pstats or pprof, a flame graph, a table.\n"
        "\n"
        "  cunei export --list                   the formats, and how to open each\n"
        "  cunei export DIR --to perfetto        DIR.pftrace, for ui.perfetto.dev\n"
        "  cunei export DIR --to chrome --from 1.2 --until 1.3 --thread 'worker*'\n"
        "  cunei export DIR --to folded -o - | flamegraph.pl > flames.svg",
    .options = options,
    .run = run_export,
};
