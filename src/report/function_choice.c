// SPDX-License-Identifier: MIT
#include "report/function_choice.h"

#include <string.h>

#include "base/glob.h"
#include "report/section.h"

bool cunei_function_choice_is_name(const struct cunei_function *function,
                                   const char *name)
{
    const char *last = strrchr(function->qualname, '.');

    return cunei_glob_matches(name, function->qualname) ||
           (last && cunei_glob_matches(name, last + 1));
}

int cunei_function_choice_init(struct cunei_function_choice *wanted,
                               const struct cunei_report *report, const char *name)
{
    const struct cunei_functions *functions = &report->analysis->functions;

    *wanted = (struct cunei_function_choice){.name = name};
    for (uint32_t i = 0; !wanted->is_name && i < functions->count; i++)
        wanted->is_name = cunei_function_choice_is_name(&functions->items[i], name);
    if (wanted->is_name)
        return 0;
    return cunei_patterns_add(&wanted->patterns, true, name, NULL, 0);
}

bool cunei_function_choice_has(const struct cunei_function_choice *wanted,
                               const struct cunei_function *function)
{
    if (wanted->is_name)
        return cunei_function_choice_is_name(function, wanted->name);
    return cunei_patterns_include(&wanted->patterns, function->module,
                                  function->qualname, function->file);
}

void cunei_function_choice_fini(struct cunei_function_choice *wanted)
{
    cunei_patterns_fini(&wanted->patterns);
}
