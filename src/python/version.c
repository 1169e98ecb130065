// SPDX-License-Identifier: MIT
#include "python/version.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* A number without a sign, which the file that it is from may have any length of. */
static bool parse_number(const char **at, int *number)
{
    char *end = NULL;

    if (**at < '0' || **at > '9')
        return false;
    unsigned long value = strtoul(*at, &end, 10);
    if (value > INT_MAX)
        return false;
    *number = (int)value;
    *at = end;
    return true;
}

bool cunei_python_version_parse(const char *text, struct cunei_python_version *version)
{
    static const char name[] = "CPython 3.";
    struct cunei_python_version parsed = {0};
    const char *at = text ? text + strlen(name) : NULL;

    *version = parsed;
    if (!text || strncmp(text, name, strlen(name)) != 0 ||
        !parse_number(&at, &parsed.minor))
        return false;
    if (*at++ == '.')
        (void)parse_number(&at, &parsed.patch);
    *version = parsed;
    return true;
}
