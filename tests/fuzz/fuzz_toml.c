// SPDX-License-Identifier: MIT
/* pyproject.toml, of which the launcher wants one table. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/toml_reader.h"
#include "fuzz.h"

static int visit(void *context, struct cunei_syntax *syntax,
                 const struct cunei_toml_value *value)
{
    unsigned *count = context;

    FUZZ_CHECK(!value->key || !strchr(value->key, '\n'));
    FUZZ_CHECK(value->place < syntax->size && value->key_place < syntax->size);
    FUZZ_CHECK(!value->text == (value->kind >= CUNEI_TOML_ARRAY));
    if (value->text && strcmp(value->text, "refuse") == 0)
        return cunei_syntax_fail(syntax, value->place, "as asked for");
    (*count)++;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cunei_syntax_error error;
    char *text = fuzz_copy(data, size); /* on the heap, so that its end is watched */
    unsigned count = 0;

    int rc = cunei_toml_parse(text, size, "tool.cunei", visit, &count, &error);
    FUZZ_CHECK(rc <= 0);
    FUZZ_CHECK((rc == -EINVAL) == (error.line > 0));
    FUZZ_CHECK(rc == 0 || error.text[0]);
    free(text);
    return 0;
}
