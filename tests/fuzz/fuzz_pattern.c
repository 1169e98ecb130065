// SPDX-License-Identifier: MIT
/* Patterns, one a line, and the words of ECMAScript's expressions in those of POSIX. */
#include <errno.h>
#include <regex.h>
#include <stdbool.h>

#include "base/buffer.h"
#include "base/ecmascript_regex.h"
#include "base/pattern.h"
#include "base/regex_cost.h"
#include "fuzz.h"

static void add(struct cunei_patterns *patterns, const char *text)
{
    char problem[200] = "";
    bool include = false;
    size_t count = patterns->count;

    int rc =
        cunei_patterns_add(patterns, count % 2 == 0, text, problem, sizeof(problem));
    FUZZ_CHECK(rc == 0 || rc == -EINVAL);
    FUZZ_CHECK((rc == -EINVAL) == (problem[0] != '\0'));
    FUZZ_CHECK(patterns->count == count + (rc == 0));
    if (rc == 0) {
        FUZZ_CHECK(strcmp(cunei_patterns_text(patterns, count, &include), text) == 0);
        FUZZ_CHECK(include == (count % 2 == 0));
    }
}

/* What is translated need not compile; but it is given in full, or refused in full. */
static void translate(const char *text)
{
    struct cunei_buffer out = {0};
    const char *problem = NULL;
    size_t place = 0, bytes = 0;
    regex_t compiled;

    int rc = cunei_ecmascript_regex_translate(text, &out, &place, &problem);
    FUZZ_CHECK(rc == 0 || (rc == -EINVAL && problem && place <= strlen(text)));
    const char *posix = out.size > 0 ? out.data : "";
    if (rc == 0 && !cunei_regex_cost(posix, &bytes) &&
        regcomp(&compiled, posix, REG_EXTENDED | REG_NOSUB) == 0) {
        (void)regexec(&compiled, "a.b:C.f", 0, NULL, 0);
        regfree(&compiled);
    }
    cunei_buffer_fini(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cunei_patterns patterns = {0};
    char *text = fuzz_copy(data, size);
    char *rest = NULL;

    if (size < 1024) {
        for (char *line = strtok_r(text, "\n", &rest); line;
             line = strtok_r(NULL, "\n", &rest)) {
            add(&patterns, line);
            translate(line);
        }
        (void)cunei_patterns_include(&patterns, "a.b", "C.f", "/x/a.py");
        (void)cunei_patterns_include(&patterns, "", "<module>", "<string>");
        cunei_patterns_fini(&patterns);
    }
    free(text);
    return 0;
}
