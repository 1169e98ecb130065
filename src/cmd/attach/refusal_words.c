// SPDX-License-Identifier: MIT
#include "cmd/attach/refusal_words.h"

#include <string.h>

#include "base/buffer.h"

void cunei_refusal_words_split(const char *sentences, struct cunei_buffer *why,
                               struct cunei_buffer *todo)
{
    const char *colon = strstr(sentences, ": ");
    const char *begin = colon ? colon + 2 : sentences;
    const char *end = strstr(begin, "; ");

    cunei_buffer_append(why, begin, end ? (size_t)(end - begin) : strlen(begin));
    if (end && todo)
        cunei_buffer_append_text(todo, end + 2);
}
