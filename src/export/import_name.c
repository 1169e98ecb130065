// SPDX-License-Identifier: MIT
#include "export/import_name.h"

#include <string.h>

#include "base/buffer.h"
#include "export/escaped_name.h"
#include "export/export.h"
#include "model/facts/import_system.h"

static bool is_import(const struct cunei_export *export,
                      const struct cunei_function *function)
{
    return export->folds && cunei_is_imported_module(function);
}

const char *cunei_import_name(const struct cunei_export *export,
                              const struct cunei_function *function,
                              struct cunei_buffer *room)
{
    if (!is_import(export, function))
        return function->qualname;
    cunei_buffer_clear(room);
    cunei_buffer_format(room, "import %s", function->module);
    return cunei_buffer_text(room);
}

void cunei_import_name_put(const struct cunei_export *export, struct cunei_buffer *out,
                           const struct cunei_function *function, char forbidden)
{
    if (!is_import(export, function)) {
        cunei_escaped_name_put_function(out, function, forbidden);
        return;
    }
    cunei_buffer_append_text(out, "import ");
    cunei_escaped_name_put(out, function->module, strlen(function->module), forbidden);
}
