// SPDX-License-Identifier: MIT
#include "export/function_labels.h"

#include <stdlib.h>
#include <string.h>

#include "export/import_name.h"
#include "trace/directory/trace.h"

static const struct cunei_function unknown = {
    .module = "?", .qualname = "?", .file = ""};

/*
 * A format may write a name at each call: a name of many kilobytes would make the file
 * thousands of times as large as the trace.
 */
#define NAME_MAX_BYTES 1024u
#define ELLIPSIS       "…"

struct names {
    char module[NAME_MAX_BYTES + sizeof(ELLIPSIS)];
    char qualname[NAME_MAX_BYTES + sizeof(ELLIPSIS)];
    char file[NAME_MAX_BYTES + sizeof(ELLIPSIS)];
};

/* The name itself, or its beginning in `room`. */
static const char *shorten(char room[NAME_MAX_BYTES + sizeof(ELLIPSIS)],
                           const char *name)
{
    size_t size = strnlen(name, NAME_MAX_BYTES + 1);

    if (size <= NAME_MAX_BYTES)
        return name;
    /* Whole characters. */
    while (--size > 0 && ((unsigned char)name[size] & 0xC0) == 0x80)
        ;
    memcpy(room, name, size);
    memcpy(room + size, ELLIPSIS, sizeof(ELLIPSIS));
    return room;
}

struct cunei_function_labels *cunei_function_labels_make(
    const struct cunei_export *export, const struct cunei_trace_process *process,
    void (*render)(struct cunei_buffer *out, const struct cunei_function *function))
{
    struct cunei_buffer room = {0};
    struct cunei_function_labels *labels = calloc(1, sizeof(*labels));
    uint32_t count = process->function_count;

    if (!labels)
        return NULL;
    labels->count = count + 1; /* the last is for unknown functions */
    labels->offsets = malloc((count + (size_t)2) * sizeof(*labels->offsets));
    for (uint32_t i = 0; labels->offsets && i <= count; i++) {
        const struct cunei_function *function =
            i < count && process->functions[i].module ? &process->functions[i]
                                                      : &unknown;
        struct cunei_function shown = *function;
        struct names names;
        shown.module = shorten(names.module, function->module);
        shown.qualname =
            shorten(names.qualname, cunei_import_name(export, function, &room));
        shown.file = shorten(names.file, function->file);
        labels->offsets[i] = labels->text.size;
        render(&labels->text, &shown);
    }
    labels->text.failed |= room.failed;
    cunei_buffer_fini(&room);
    if (!labels->offsets || labels->text.failed) {
        cunei_function_labels_free(labels);
        return NULL;
    }
    labels->offsets[count + 1] = labels->text.size;
    return labels;
}

void cunei_function_labels_free(void *labels)
{
    struct cunei_function_labels *made = labels;

    cunei_buffer_fini(&made->text);
    free(made->offsets);
    free(made);
}

const char *cunei_function_labels_find(const struct cunei_function_labels *labels,
                                       uint32_t function, size_t *size)
{
    uint32_t index = function - CUNEI_FUNCTION_FIRST;

    if (index >= labels->count)
        index = labels->count - 1;
    *size = labels->offsets[index + 1] - labels->offsets[index];
    return labels->text.data + labels->offsets[index];
}
