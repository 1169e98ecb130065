// SPDX-License-Identifier: MIT
#include "cmd/record/option_conflict.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "cmd/record/config.h"
#include "cmd/record/interpreter.h"
#include "cmd/record/record_options.h"
#include "python/incompatibility.h"

/* The item of [tool.cunei] that sets one of the two options; NULL: both were typed. */
static const struct cunei_config_item *find_item(const struct cunei_config *config,
                                                 const struct cunei_request *request,
                                                 enum cunei_incompatibility conflict)
{
    enum cunei_incompatibility other = conflict == CUNEI_INCOMPATIBILITY_BUDGET
                                           ? cunei_incompatibility_with_budget(request)
                                           : CUNEI_INCOMPATIBILITY_LACKING;
    const struct cunei_config_item *item = cunei_config_item(
        config, cunei_incompatibility_option(conflict) + strlen("--"));

    return item ? item
                : cunei_config_item(config,
                                    cunei_incompatibility_option(other) + strlen("--"));
}

bool cunei_option_conflict_find(const struct cunei_record_options *options,
                                const struct cunei_config *config,
                                const struct cunei_interpreter *python,
                                struct cunei_buffer *reason)
{
    int minor = python ? python->minor : 0;
    struct cunei_request request = cunei_record_options_request(options);
    request.no_gil = python && strcmp(python->gil, "no") == 0;
    enum cunei_incompatibility conflict = cunei_incompatibility_find(&request, minor);
    struct cunei_buffer subject = {0};

    if (!conflict)
        return false;
    if (python)
        cunei_buffer_format(&subject, "'%s' is CPython %s", python->path,
                            python->version);
    const struct cunei_incompatibility_context context = {.subject = subject.data};
    const struct cunei_config_item *item = find_item(config, &request, conflict);
    if (item)
        cunei_buffer_format(reason, "%s:%zu:%zu: ", config->path, item->line,
                            item->column);
    cunei_incompatibility_format(conflict, &request, minor, &context, reason);
    cunei_buffer_fini(&subject);
    return item != NULL;
}
