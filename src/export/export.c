// SPDX-License-Identifier: MIT
/* The table of formats. */
#include "export/export.h"

#include <errno.h>
#include <string.h>

#include "export/formats.h"
#include "export/selection.h"

const struct cunei_export_format cunei_export_formats[] = {
    {"perfetto", ".pftrace", "ui.perfetto.dev, trace_processor",
     "open it in ui.perfetto.dev", cunei_export_perfetto},
    {"chrome", ".json", "chrome://tracing, Perfetto, speedscope",
     "open chrome://tracing and load the file", cunei_export_chrome},
    {"folded", ".folded", "flamegraph.pl, inferno, speedscope",
     "flamegraph.pl FILE > flames.svg", cunei_export_folded},
    {0},
};

const struct cunei_export_format *cunei_export_find(const char *name)
{
    for (const struct cunei_export_format *format = cunei_export_formats; format->name;
         format++) {
        if (strcmp(format->name, name) == 0)
            return format;
    }
    return NULL;
}

int cunei_export_write(struct cunei_export *export,
                       const struct cunei_export_format *format)
{
    int rc = cunei_selection_make(export);

    if (rc == 0)
        rc = format->write(export);
    if (rc == 0 && (fflush(export->out) != 0 || ferror(export->out)))
        rc = errno ? -errno : -EIO;
    return rc;
}

void cunei_export_fini(struct cunei_export *export)
{
    cunei_selection_fini(export);
}
