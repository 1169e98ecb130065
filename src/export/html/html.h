// SPDX-License-Identifier: MIT
/* Parts of the page of a recording, for html.c alone. */
#ifndef CUNEI_EXPORT_HTML_HTML_H
#define CUNEI_EXPORT_HTML_HTML_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/analysis.h"
#include "export/html/page.h"

struct cunei_export;
struct cunei_process;

/* The most rows of a table. */
#define CUNEI_HTML_ROWS_MAX 5000u

struct cunei_html {
    struct cunei_export *export;
    struct cunei_page page;
    struct cunei_analysis analysis; /* functions that are found later have no facts */
    struct cunei_tree *tree; /* owned: the analysis's with fewer threads; or NULL */
    uint32_t fact_count;     /* functions of the analysis that have facts */
    uint64_t hidden_ns;      /* only some of the calls that took less are drawn, */
    uint32_t hidden_room;    /* at most this number */
};

/* Whether anything is left of a process of the analysis. */
bool cunei_html_has_process(const struct cunei_html *html, size_t index);

/* The row of a process of the analysis; -1: it has none. */
int64_t cunei_html_process_row(const struct cunei_html *html, size_t index);

/* What a process ran, and what multiprocessing calls it; without secrets. */
void cunei_html_put_command(struct cunei_html *html,
                            const struct cunei_process *process);

/* ,"threads":[…],"types":[…]: what each thread did when, and exceptions' names. */
int cunei_html_put_threads(struct cunei_html *html);

/* ,"tree":{…},"thread_facts":[…] */
int cunei_html_put_tree(struct cunei_html *html);

/* ,"sources":[…],"blocks":[…],"lines":[…] */
int cunei_html_put_sources(struct cunei_html *html);

/* Markup that stands in the page before the script runs. */
void cunei_html_put_summary(struct cunei_html *html);

/* ,"processes":[…],"tasks":[…],"exceptions":[…],"gc":{…} */
int cunei_html_put_tables(struct cunei_html *html);

/* ,"metadata":[…],"regions":[…],"parameters":[…],"tokens":[…] */
int cunei_html_put_user_tables(struct cunei_html *html);

#endif
