// SPDX-License-Identifier: MIT
#include "export/otf2/library.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

#include "export/writers.h"

static bool find(void *handle, const char *name, void *pointer)
{
    void *symbol = dlsym(handle, name);

    /* A pointer to data may not be cast to one to a function. */
    memcpy(pointer, &symbol, sizeof(symbol));
    return symbol != NULL;
}

const struct cunei_otf2_library *cunei_otf2_load(void)
{
    static struct cunei_otf2_library library;
    static bool is_loaded;

    if (is_loaded)
        return &library;
    /* Its major version is that of the headers it was built with. */
    void *handle = dlopen(CUNEI_OTF2_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return NULL;
    is_loaded = true;
#define CUNEI_OTF2_FIND(name) is_loaded &= find(handle, "OTF2_" #name, &library.name);
    CUNEI_OTF2_FUNCTIONS(CUNEI_OTF2_FIND)
#undef CUNEI_OTF2_FIND
    return is_loaded ? &library : NULL;
}

const char *cunei_export_otf2_absent(void)
{
    return cunei_otf2_load() ? NULL
                             : CUNEI_OTF2_LIBRARY " (Debian: " CUNEI_OTF2_PACKAGE ")";
}
