// SPDX-License-Identifier: MIT
#include "export/formats.h"

#include <errno.h>
#include <string.h>

#include "export/selection.h"
#include "export/task_names.h"
#include "export/writers.h"

/* Opens a file in the program that the user has chosen for its type. */
#define DESKTOP "xdg-open"

/* Browsers need many times the size of JSON in memory. */
#define CHROME_LARGE UINT64_C(200000000)

const struct cunei_export_format cunei_export_formats[] = {
    {.name = "html",
     .extension = ".html",
     .viewers = "any browser",
     .how = "open it in a browser",
     .opener = DESKTOP,
     .folds = true,
     .write = cunei_export_html},
    {.name = "perfetto",
     .extension = ".pftrace",
     .viewers = "ui.perfetto.dev, trace_processor",
     .how = "open it in ui.perfetto.dev",
     .folds = true,
     .write = cunei_export_perfetto},
    {.name = "chrome",
     .extension = ".json",
     .viewers = "chrome://tracing, Perfetto, speedscope",
     .how = "load it in chrome://tracing",
     .large_bytes = CHROME_LARGE,
     .instead = "perfetto",
     .folds = true,
     .write = cunei_export_chrome},
    {.name = "speedscope",
     .extension = ".speedscope.json",
     .viewers = "speedscope",
     .how = "speedscope FILE, or drop it on www.speedscope.app",
     .opener = "speedscope",
     .folds = true,
     .write = cunei_export_speedscope},
    {.name = "pstats",
     .extension = ".prof",
     .viewers = "pstats, snakeviz, tuna",
     .how = "python -m pstats FILE, or snakeviz FILE",
     .has_calls_only = true,
     .write = cunei_export_pstats},
    {.name = "folded",
     .extension = ".folded",
     .viewers = "flamegraph.pl, inferno, speedscope",
     .how = "flamegraph.pl FILE > flames.svg",
     .folds = true,
     .write = cunei_export_folded},
    {.name = "callgrind",
     .extension = ".callgrind",
     .viewers = "KCachegrind, callgrind_annotate",
     .how = "kcachegrind FILE",
     .opener = "kcachegrind",
     .write = cunei_export_callgrind},
    {
        .name = "pprof",
        .extension = ".pb.gz",
        .viewers = "go tool pprof, Pyroscope, Perfetto",
        .how = "go tool pprof -http=: FILE",
#ifdef CUNEI_HAS_ZLIB
        .folds = true,
        .write = cunei_export_pprof,
#else
        .missing = "zlib (Debian: zlib1g-dev)",
#endif
    },
    {.name = "csv",
     .extension = ".csv",
     .viewers = "DuckDB, pandas, Spark",
     .how = "duckdb -c \"from 'FILE'\"",
     .opener = DESKTOP,
     .write = cunei_export_csv},
    {
        .name = "otf2",
        .extension = ".otf2",
        .viewers = "Vampir, Scalasca, otf2-print",
        .how = "vampir FOLDER/traces.otf2",
        .opener = "vampir",
        .entry = "traces.otf2",
        .is_folder = true,
#ifdef CUNEI_HAS_OTF2
        .absent = cunei_export_otf2_absent,
        .write = cunei_export_otf2,
#else
        .missing = "libotf2 (Debian: libotf2-trace-dev)",
#endif
    },
    {.name = "ctf",
     .extension = ".ctf",
     .viewers = "babeltrace2, Trace Compass, cunei",
     .how = "babeltrace2 FOLDER",
     .is_folder = true,
     .write = cunei_export_ctf},
    {0},
};

const struct cunei_export_format *cunei_export_find(const char *name, size_t size)
{
    for (const struct cunei_export_format *format = cunei_export_formats; format->name;
         format++) {
        if (strlen(format->name) == size && memcmp(format->name, name, size) == 0)
            return format;
    }
    return NULL;
}

bool cunei_export_lacks(const struct cunei_export_format *format,
                        struct cunei_buffer *why)
{
    const char *absent = format->absent ? format->absent() : NULL;

    if (format->missing)
        cunei_buffer_format(
            why, "cunei was built without %s; install that, then install cunei again",
            format->missing);
    else if (absent)
        cunei_buffer_format(why, "%s is not installed", absent);
    return format->missing || absent;
}

const struct cunei_export_format *cunei_export_instead(
    const struct cunei_export_format *format, uint64_t bytes)
{
    return format->large_bytes > 0 && bytes > format->large_bytes
               ? cunei_export_find(format->instead, strlen(format->instead))
               : NULL;
}

/* Losses at the very end are in the description only. */
static void count_lost(struct cunei_export *export)
{
    const struct cunei_export_options *options = export->options;
    bool is_part = options->from_ns > 0 || options->until_ns < UINT64_MAX ||
                   options->thread_count > 0;
    uint64_t described = 0;

    for (size_t i = 0; !is_part && i < export->trace->process_count; i++) {
        if (export->selections[i].is_wanted)
            described += export->trace->processes[i].description.lost;
    }
    if (described < export->counted_lost)
        described = export->counted_lost;
    if (export->lost < described)
        export->lost = described;
    if (export->missing_packets < export->counted_missing)
        export->missing_packets = export->counted_missing;
}

int cunei_export_write(struct cunei_export *export,
                       const struct cunei_export_format *format)
{
    export->has_calls_only = format->has_calls_only;
    export->folds = format->folds && !export->options->no_fold;
    int rc = cunei_selection_make(export);

    export->names = cunei_task_names_new();
    if (rc == 0)
        rc = export->names ? format->write(export) : -ENOMEM;
    if (rc == 0 && export->threads == 0 &&
        (export->options->from_ns > 0 || export->options->until_ns < UINT64_MAX))
        rc = -ERANGE;
    if (rc == 0)
        count_lost(export);
    if (rc == 0 && export->out && (fflush(export->out) != 0 || ferror(export->out)))
        rc = errno ? -errno : -EIO;
    return rc;
}

void cunei_export_fini(struct cunei_export *export)
{
    cunei_selection_fini(export);
    cunei_task_names_free(export->names);
    export->names = NULL;
}
