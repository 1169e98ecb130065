// SPDX-License-Identifier: MIT
#include "cmd/common/calling_python.h"

#include <stddef.h>
#include <string.h>

/* `python -m cunei` puts these before the words it was given. */
#define PYTHON_OPTION      "--from-python="
#define PYTHON_WORD_OPTION "--python-word="

static const char *python;
static char **python_words;
static int python_word_count;

const char *cunei_calling_python(void)
{
    return python;
}

int cunei_calling_python_words(char ***words)
{
    *words = python_words;
    return python_word_count;
}

int cunei_calling_python_read(char **argv)
{
    const size_t size = strlen(PYTHON_WORD_OPTION);

    if (!argv[0] || !argv[1] ||
        strncmp(argv[1], PYTHON_OPTION, strlen(PYTHON_OPTION)) != 0)
        return 0;
    python = argv[1] + strlen(PYTHON_OPTION);
    python_words = argv + 2;
    for (char **word = python_words; *word; word++) {
        if (strncmp(*word, PYTHON_WORD_OPTION, size) != 0)
            break;
        *word += size;
        python_word_count++;
    }
    return 1 + python_word_count;
}
