// SPDX-License-Identifier: MIT
#include "export/html/page.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "export/pagebytes.h"
#include "export/write_buffer.h"
#include "model/facts/call_tree.h"
#include "model/facts/functions.h"
#include "text/redact.h"
#include "wire/user_event.h"

int cunei_page_flow(struct cunei_page *page)
{
    return cunei_write_buffer_if_full(&page->text, page->out);
}

void cunei_page_begin(struct cunei_page *page)
{
    cunei_buffer_append(&page->text, page_begin, sizeof(page_begin));
}

void cunei_page_data(struct cunei_page *page)
{
    cunei_buffer_append(&page->text, page_middle, sizeof(page_middle));
}

void cunei_page_markup(struct cunei_buffer *out, const char *text)
{
    struct cunei_buffer shown = {0};

    cunei_text_show(&shown, text, strlen(text));
    for (const char *at = cunei_buffer_text(&shown); *at; at++) {
        if (strchr("<>&\"'", *at))
            cunei_buffer_format(out, "&#%d;", *at);
        else
            cunei_buffer_append(out, at, 1);
    }
    out->failed |= shown.failed;
    cunei_buffer_fini(&shown);
}

int cunei_page_end(struct cunei_page *page)
{
    cunei_buffer_append(&page->text, page_end, sizeof(page_end));
    return cunei_write_buffer(&page->text, page->out);
}

void cunei_page_fini(struct cunei_page *page)
{
    cunei_buffer_fini(&page->text);
}

/* A < could end the element, whatever stands behind it. */
void cunei_page_text(struct cunei_buffer *out, const char *text, size_t size)
{
    struct cunei_buffer json = {0};
    const char *from, *next;

    cunei_text_json(&json, text, size);
    for (from = json.data ? json.data : "\"\""; (next = strchr(from, '<'));
         from = next + 1) {
        cunei_buffer_append(out, from, (size_t)(next - from));
        cunei_buffer_append_text(out, "\\u003c");
    }
    cunei_buffer_append_text(out, from);
    out->failed |= json.failed;
    cunei_buffer_fini(&json);
}

void cunei_page_redacted(struct cunei_buffer *out, const char *text, size_t size)
{
    struct cunei_buffer redacted = {0};

    cunei_redact_text(&redacted, text, size);
    cunei_page_text(out, cunei_buffer_text(&redacted), redacted.size);
    out->failed |= redacted.failed;
    cunei_buffer_fini(&redacted);
}

void cunei_page_function(struct cunei_page *page, const struct cunei_function *function)
{
    const char *const texts[] = {function->qualname, function->module, function->file};

    for (unsigned i = 0; i < 3; i++) {
        /* A region's name is made by the program. */
        if (cunei_definition_of(function) == CUNEI_DEFINITION_REGION)
            cunei_page_redacted(&page->text, texts[i], strlen(texts[i]));
        else
            cunei_page_text(&page->text, texts[i], strlen(texts[i]));
        cunei_buffer_append_text(&page->text, ",");
    }
    cunei_buffer_format(&page->text, "%" PRIu32, function->line);
}

uint64_t cunei_page_parent(const struct cunei_node *node, void *context)
{
    (void)context;
    return node->parent;
}

uint64_t cunei_page_function_of(const struct cunei_node *node, void *context)
{
    (void)context;
    bool is_function = node->slot > 0 && !(node->slot & CUNEI_TREE_THREAD);
    return is_function ? node->slot - 1 : 0;
}

int cunei_page_column(struct cunei_page *page, const char *name,
                      const struct cunei_tree *tree,
                      uint64_t (*value)(const struct cunei_node *node, void *context),
                      void *context)
{
    int rc = 0;

    cunei_buffer_format(&page->text, "\"%s\":[", name);
    for (uint32_t i = 0; rc == 0 && i < tree->count; i++) {
        cunei_buffer_format(&page->text, "%s%" PRIu64, i > 0 ? "," : "",
                            value(&tree->nodes[i], context));
        rc = cunei_page_flow(page);
    }
    cunei_buffer_append_text(&page->text, "]");
    return rc;
}
