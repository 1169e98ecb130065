// SPDX-License-Identifier: MIT
/* `cunei export`: converts a trace for other tools. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "cmd/cmd.h"
#include "cmd/common/export_option.h"
#include "cmd/common/export_part.h"
#include "cmd/common/options.h"
#include "export/formats.h"
#include "text/json.h"

struct values {
    const char *to;
    const char *file;
    bool force;
    bool list;
    bool json;
    struct cunei_export_option exporting;
    struct cunei_export_part part;
};

static const struct cunei_option options[] = {
    {.name = "to",
     .kind = CUNEI_OPTION_ONCE,
     .value = "FORMAT",
     .help = "format to write; see --list",
     .offset = offsetof(struct values, to)},
    {.name = "output",
     .letter = 'o',
     .kind = CUNEI_OPTION_TEXT,
     .value = "FILE",
     .help = "file to write; - is stdout (default: the directory's\nname with the "
             "format's extension)",
     .offset = offsetof(struct values, file)},
    {.name = "force",
     .letter = 'f',
     .kind = CUNEI_OPTION_FLAG,
     .help = "overwrite a file that exists",
     .offset = offsetof(struct values, force)},
    {.name = "open",
     .kind = CUNEI_OPTION_FLAG,
     .help = "open the result",
     .offset = offsetof(struct values, exporting.open)},
    {.kind = CUNEI_OPTION_TABLE,
     .table = cunei_export_part_options,
     .offset = offsetof(struct values, part)},
    {.name = "names",
     .kind = CUNEI_OPTION_FLAG,
     .help = "ctf: an event class for every function, even beyond\nthe first 20 000",
     .offset = offsetof(struct values, part.options.names)},
    {.name = "hide-source",
     .kind = CUNEI_OPTION_FLAG,
     .help = "html: do not include the source of functions",
     .offset = offsetof(struct values, exporting.hide_source)},
    {.name = "raw-cells",
     .kind = CUNEI_OPTION_FLAG,
     .help = "csv: write names that begin with =, +, - or @ without\nan apostrophe "
             "before them",
     .offset = offsetof(struct values, part.options.raw_cells)},
    {.name = "list",
     .letter = 'l',
     .kind = CUNEI_OPTION_FLAG,
     .help = "list the formats and how to open each",
     .offset = offsetof(struct values, list)},
    {.name = "json",
     .kind = CUNEI_OPTION_FLAG,
     .help = "print the list as JSON",
     .offset = offsetof(struct values, json)},
    {0},
};

static void show_row(const struct cunei_export_format *format)
{
    struct cunei_buffer why = {0};

    printf("%-11s %-17s %s\n%30s%s\n", format->name, format->extension, format->viewers,
           "", format->how);
    if (cunei_export_lacks(format, &why))
        printf("%30snot available: %s\n", "", why.data);
    cunei_buffer_fini(&why);
}

static int show_list(bool is_json)
{
    const struct cunei_export_format *format = cunei_export_formats;
    struct cunei_json json = {.out = stdout};
    struct cunei_buffer why = {0};

    if (!is_json) {
        for (; format->name; format++)
            show_row(format);
        return EXIT_SUCCESS;
    }
    cunei_json_open(&json, NULL, '{');
    cunei_json_number(&json, "version", 1);
    cunei_json_open(&json, "formats", '[');
    for (; format->name; format++) {
        cunei_json_open(&json, NULL, '{');
        cunei_json_text(&json, "name", format->name);
        cunei_json_text(&json, "extension", format->extension);
        cunei_json_text(&json, "viewers", format->viewers);
        cunei_json_text(&json, "how", format->how);
        cunei_json_flag(&json, "is_built", !format->missing);
        cunei_json_flag(&json, "is_here", !cunei_export_lacks(format, &why));
        cunei_json_close(&json, '}');
    }
    cunei_buffer_fini(&why);
    cunei_json_close(&json, ']');
    cunei_json_close(&json, '}');
    int rc = cunei_json_end(&json);
    return rc < 0 ? cunei_cmd_fail(rc, "cannot print the formats") : EXIT_SUCCESS;
}

/* --to ctf must not overwrite the trace that it reads. */
static int check_is_other(const char *path, const char *file)
{
    char *from = realpath(path, NULL), *to = file ? realpath(file, NULL) : NULL;
    bool is_same = from && to && strcmp(from, to) == 0;

    free(from);
    free(to);
    return is_same
               ? cunei_cmd_fail(0, "cannot write to '%s': it is the trace itself", file)
               : CUNEI_OPTIONS_CONTINUE;
}

/* -o FILE is FORMAT:FILE. */
static int export_trace(struct values *values, const char *path)
{
    struct cunei_buffer to = {0};
    char *name = cunei_export_option_name(path);

    cunei_buffer_append_text(&to, values->to);
    if (values->file)
        cunei_buffer_format(&to, ":%s", values->file);
    values->exporting.to = to.data;
    const char *colon = strchr(values->exporting.to, ':');
    int status = check_is_other(path, colon ? colon + 1 : NULL);
    if (status == CUNEI_OPTIONS_CONTINUE)
        status = cunei_export_option_prepare(&values->exporting, name ? name : "trace",
                                             values->force);
    if (status == CUNEI_OPTIONS_CONTINUE)
        status =
            cunei_export_option_write(&values->exporting, path, &values->part.options);
    cunei_export_option_fini(&values->exporting);
    cunei_buffer_fini(&to);
    free(name);
    return status;
}

/* Whether --to has this format, with or without a file. */
static bool is_format(const char *to, const char *name)
{
    size_t size = strlen(name);

    return strncmp(to, name, size) == 0 && (to[size] == '\0' || to[size] == ':');
}

/* Checks that need several options; returns as cunei_options_parse. */
static int settle(struct values *values)
{
    if (!values->to)
        return cunei_cmd_usage("missing format, for example --to perfetto; 'cunei "
                               "export --list' lists them");
    if (values->file && strchr(values->to, ':'))
        return cunei_cmd_usage("--to %s and -o %s both name a file; give one of them",
                               values->to, values->file);
    if (values->part.options.names && !is_format(values->to, "ctf"))
        return cunei_cmd_usage("--names needs --to ctf: other formats name every "
                               "function");
    if (values->part.options.raw_cells && !is_format(values->to, "csv"))
        return cunei_cmd_usage("--raw-cells needs --to csv: other formats have no "
                               "cells");
    return cunei_export_part_settle(&values->part);
}

static int run_export(int argc, char **argv)
{
    struct values values = {.part = CUNEI_EXPORT_PART_DEFAULTS,
                            .exporting.has_stdout = true};

    int status = cunei_options_parse(&cunei_cmd_export, &argc, argv, &values);
    if (status == CUNEI_OPTIONS_CONTINUE && values.list)
        status = show_list(values.json);
    if (status == CUNEI_OPTIONS_CONTINUE)
        status = cunei_options_directory(&cunei_cmd_export, argc, argv);
    if (status == CUNEI_OPTIONS_CONTINUE)
        status = settle(&values);
    if (status == CUNEI_OPTIONS_CONTINUE)
        status = export_trace(&values, argv[1]);
    cunei_export_part_fini(&values.part);
    return status;
}

const struct cunei_cmd cunei_cmd_export = {
    .name = "export",
    .args = "[options] DIR --to FORMAT",
    .summary = "convert a trace for other tools",
    .help =
        "Converts a trace to a format that another tool reads: a timeline for Perfetto,\n"
        "a profile for pstats or pprof, a flame graph, a table.\n"
        "\n"
        "  cunei export --list                   the formats and how to open each\n"
        "  cunei export DIR --to perfetto        DIR.pftrace, for ui.perfetto.dev\n"
        "  cunei export DIR --to chrome --from 1.2 --until 1.3 --thread 'worker*'\n"
        "  cunei export DIR --to folded -o - | flamegraph.pl > flames.svg",
    .options = options,
    .run = run_export,
};
