// SPDX-License-Identifier: MIT
/* Requests to an armed process, and its answers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/syntax_error.h"
#include "fuzz.h"
#include "wire/control_message.h"

static bool is_same(const char *text, const char *other)
{
    return text && other ? strcmp(text, other) == 0 : text == other;
}

static void check_request(const char *line, size_t size)
{
    struct cunei_control_request request, again;
    struct cunei_syntax_error error;
    struct cunei_buffer text = {0};

    int rc = cunei_control_request_parse(&request, line, size, &error);
    FUZZ_CHECK(rc == 0 || rc == -EPROTO || (rc == -EINVAL && error.text[0]));
    if (rc < 0)
        return;
    cunei_control_request_format(&request, &text);
    FUZZ_CHECK(!text.failed && !memchr(text.data, '\n', text.size));
    FUZZ_CHECK(cunei_control_request_parse(&again, text.data, text.size, &error) == 0);
    FUZZ_CHECK(again.action == request.action && again.session == request.session);
    FUZZ_CHECK(again.stay == request.stay && is_same(again.record, request.record));
    cunei_control_request_fini(&request);
    cunei_control_request_fini(&again);
    cunei_buffer_fini(&text);
}

static void check_answer(const char *line, size_t size)
{
    struct cunei_control_answer answer, again;
    struct cunei_syntax_error error;
    struct cunei_buffer text = {0};

    if (cunei_control_answer_parse(&answer, line, size, &error) < 0)
        return;
    cunei_control_answer_format(&answer, &text);
    FUZZ_CHECK(!text.failed && !memchr(text.data, '\n', text.size));
    FUZZ_CHECK(cunei_control_answer_parse(&again, text.data, text.size, &error) == 0);
    FUZZ_CHECK(again.pid == answer.pid && again.session == answer.session);
    FUZZ_CHECK(is_same(again.error, answer.error));
    FUZZ_CHECK(is_same(again.directory, answer.directory));
    cunei_control_answer_fini(&answer);
    cunei_control_answer_fini(&again);
    cunei_buffer_fini(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *line = malloc(size ? size : 1); /* no NUL behind it */

    FUZZ_CHECK(line);
    if (size > 0)
        memcpy(line, data, size);
    check_request(line, size);
    check_answer(line, size);
    free(line);
    return 0;
}
