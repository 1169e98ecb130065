// SPDX-License-Identifier: MIT
/*
 * Packets in a stream file, exported to every format: whatever they hold, each writer
 * gets along with it.  The size of an input chooses what of it is wanted.
 */
#include <errno.h>
#include <ftw.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "export/formats.h"
#include "fuzz.h"
#include "recorded.h"

static int remove_entry(const char *path, const struct stat *status, int type,
                        struct FTW *walk)
{
    (void)status, (void)type, (void)walk;
    return remove(path);
}

static void export_to(const struct cunei_trace *trace,
                      const struct cunei_export_format *format,
                      const struct cunei_export_options *options)
{
    struct cunei_export export = {.trace = trace, .options = options};
    char folder[128];
    char *text = NULL;
    size_t size = 0;

    if (format->is_folder) {
        (void)snprintf(folder, sizeof(folder), "%s-XXXXXX", recorded_directory());
        FUZZ_CHECK(mkdtemp(folder));
        export.folder = folder;
    } else {
        export.out = open_memstream(&text, &size);
        FUZZ_CHECK(export.out);
    }
    int rc = cunei_export_write(&export, format);
    FUZZ_CHECK(rc == 0 || rc == -ESRCH || rc == -ERANGE);
    FUZZ_CHECK(export.damage_count == 0 || export.damage.text[0]);
    cunei_export_fini(&export);
    if (export.out)
        FUZZ_CHECK(fclose(export.out) == 0);
    else
        FUZZ_CHECK(nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS) == 0);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cunei_export_options options = CUNEI_EXPORT_DEFAULTS;
    struct cunei_trace trace;

    if (!recorded_open(&trace, data, size))
        return 0;
    options.worker_count = 1 + (size / 8) % 2;
    options.names = size / 16 % 2 == 1;
    if (size / 32 % 2 == 1)
        options.from_ns = 500;
    if (size / 64 % 2 == 1)
        options.until_ns = 2000;
    if (size / 128 % 2 == 1)
        FUZZ_CHECK(cunei_patterns_add(&options.patterns, false, "a:f", NULL, 0) == 0);
    for (const struct cunei_export_format *format = cunei_export_formats; format->name;
         format++) {
        if (format->write)
            export_to(&trace, format, &options);
    }
    cunei_patterns_fini(&options.patterns);
    recorded_close(&trace);
    return 0;
}
