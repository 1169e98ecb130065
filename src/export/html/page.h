// SPDX-License-Identifier: MIT
/*
 * The page of web/ with data in it: one file that a browser opens.
 *
 *     struct cunei_page page = {.out = file};
 *     cunei_page_begin(&page);
 *     … markup that stands there before the script runs …
 *     cunei_page_data(&page);
 *     … JSON into page.text, with cunei_page_text and cunei_page_flow …
 *     rc = cunei_page_end(&page);
 *     cunei_page_fini(&page);
 */
#ifndef CUNEI_EXPORT_HTML_PAGE_H
#define CUNEI_EXPORT_HTML_PAGE_H

#include <stdint.h>
#include <stdio.h>

#include "base/buffer.h"

struct cunei_function;
struct cunei_node;
struct cunei_tree;

struct cunei_page {
    FILE *out;
    struct cunei_buffer text; /* what is not yet written */
};

void cunei_page_begin(struct cunei_page *page);
void cunei_page_data(struct cunei_page *page);

/* A text as markup, at the end of `out`. */
void cunei_page_markup(struct cunei_buffer *out, const char *text);

/* A text as JSON that may stand in a script element, at the end of `out`. */
void cunei_page_text(struct cunei_buffer *out, const char *text, size_t size);

/* The same without the values of secrets (text/redact.h). */
void cunei_page_redacted(struct cunei_buffer *out, const char *text, size_t size);

/* "name","module","file",line: how a function's row begins. */
void cunei_page_function(struct cunei_page *page,
                         const struct cunei_function *function);

/* "name":[…] of a value of each of the tree's nodes. */
int cunei_page_column(struct cunei_page *page, const char *name,
                      const struct cunei_tree *tree,
                      uint64_t (*value)(const struct cunei_node *node, void *context),
                      void *context);

/* Such values: the node above, and the index of the function. */
uint64_t cunei_page_parent(const struct cunei_node *node, void *context);
uint64_t cunei_page_function_of(const struct cunei_node *node, void *context);

/* Write the text if it is large; -ENOMEM, or an error of writing. */
int cunei_page_flow(struct cunei_page *page);
int cunei_page_end(struct cunei_page *page);
void cunei_page_fini(struct cunei_page *page);

#endif
