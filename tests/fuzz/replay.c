// SPDX-License-Identifier: MIT
/* Gives the files in the folders named on the command line to a fuzz target. */
#include <dirent.h>
#include <limits.h>

#include "fuzz.h"

#define INPUT_MAX (1u << 20)

static void replay_file(const char *path)
{
    static uint8_t data[INPUT_MAX];

    FILE *file = fopen(path, "rbe");
    FUZZ_CHECK(file);
    size_t size = fread(data, 1, sizeof(data), file);
    (void)fclose(file);
    (void)LLVMFuzzerTestOneInput(data, size);
}

static size_t replay_folder(const char *path)
{
    size_t count = 0;

    DIR *folder = opendir(path);
    FUZZ_CHECK(folder);
    for (struct dirent *entry; (entry = readdir(folder));) {
        char name[PATH_MAX];
        if (entry->d_name[0] == '.')
            continue;
        (void)snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
        /* Printed before the file is read: a crash then shows which. */
        (void)printf("%s\n", name);
        (void)fflush(stdout);
        replay_file(name);
        count++;
    }
    closedir(folder);
    return count;
}

int main(int argc, char **argv)
{
    size_t count = 0;

    for (int i = 1; i < argc; i++)
        count += replay_folder(argv[i]);
    (void)printf("%zu inputs\n", count);
    return count > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
