// SPDX-License-Identifier: MIT
/* Tables of the program's own events: metadata, regions, parameters, tokens. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/vector.h"
#include "export/export.h"
#include "export/html/html.h"
#include "text/redact.h"

/* How much of a text is put into a row. */
#define TEXT_MAX 500u

static void put_text(struct cunei_html *html, const char *text)
{
    cunei_page_text(&html->page.text, text,
                    cunei_text_cut(text, strlen(text), TEXT_MAX));
}

/* The value of a name, unless that is of a secret. */
static void put_value(struct cunei_html *html, const char *name, const char *value)
{
    struct cunei_buffer text = {0};

    cunei_redact_value(&text, name, strlen(name), value, strlen(value));
    put_text(html, cunei_buffer_text(&text));
    html->page.text.failed |= text.failed;
    cunei_buffer_fini(&text);
}

static void begin_table(struct cunei_html *html, const char *name)
{
    cunei_buffer_format(&html->page.text, ",\n\"%s\":[", name);
}

static void begin_row(struct cunei_html *html, uint32_t number)
{
    cunei_buffer_append_text(&html->page.text, number > 0 ? ",\n[" : "\n[");
}

static void put_ns(struct cunei_html *html, bool is_known, uint64_t ns)
{
    if (is_known)
        cunei_buffer_format(&html->page.text, ",%" PRIu64, ns);
    else
        cunei_buffer_append_text(&html->page.text, ",-1");
}

/* [key, value] */
static int put_metadata(struct cunei_html *html)
{
    const struct cunei_user_facts *facts = &html->analysis.user_facts;
    uint32_t count = facts->metadata_keys.count;
    int rc = 0;

    begin_table(html, "metadata");
    for (uint32_t i = 0; rc == 0 && i < count && i < CUNEI_HTML_ROWS_MAX; i++) {
        begin_row(html, i);
        put_text(html, facts->metadata_keys.items[i]);
        cunei_buffer_append_text(&html->page.text, ",");
        put_value(html, facts->metadata_keys.items[i], facts->metadata[i].text);
        cunei_buffer_append_text(&html->page.text, "]");
        rc = cunei_page_flow(&html->page);
    }
    cunei_buffer_append_text(&html->page.text, "]");
    return rc;
}

static int compare_regions(const void *a, const void *b)
{
    const struct cunei_region_facts *one = *(const struct cunei_region_facts *const *)a;
    const struct cunei_region_facts *two = *(const struct cunei_region_facts *const *)b;

    if (one->total_ns != two->total_ns)
        return one->total_ns > two->total_ns ? -1 : 1;
    return one < two ? -1 : one > two;
}

static void put_region(struct cunei_html *html, const struct cunei_region_facts *region)
{
    const struct cunei_user_facts *facts = &html->analysis.user_facts;
    bool is_known = region->histogram.span > 0;

    put_value(html, "", facts->region_names.items[region - facts->regions]);
    cunei_buffer_format(&html->page.text, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64,
                        region->count, region->total_ns,
                        cunei_user_facts_region_mean(region));
    put_ns(html, is_known, cunei_user_facts_region_quantile(region, 0.5));
    put_ns(html, is_known, cunei_user_facts_region_quantile(region, 0.99));
    put_ns(html, is_known, region->max_ns);
    cunei_buffer_append_text(&html->page.text, "]");
}

/* [name, count, total, mean, p50, p99, max or -1], the costliest first. */
static int put_regions(struct cunei_html *html)
{
    const struct cunei_user_facts *facts = &html->analysis.user_facts;
    uint32_t count = facts->region_names.count;
    const struct cunei_region_facts **order = cunei_vector_sort(
        facts->regions, sizeof(*facts->regions), count, compare_regions);
    uint32_t shown = 0;
    int rc = 0;

    if (!order)
        return -ENOMEM;
    begin_table(html, "regions");
    for (uint32_t i = 0; rc == 0 && i < count && shown < CUNEI_HTML_ROWS_MAX; i++) {
        if (order[i]->count + order[i]->resumes == 0)
            continue;
        begin_row(html, shown++);
        put_region(html, order[i]);
        rc = cunei_page_flow(&html->page);
    }
    cunei_buffer_append_text(&html->page.text, "]");
    free((void *)order);
    return rc;
}

/* [name, value, whose it is, whether that is a region, count, total], of those that
 * have few values. */
static int put_parameters(struct cunei_html *html)
{
    const struct cunei_user_facts *facts = &html->analysis.user_facts;
    struct cunei_buffer *out = &html->page.text;
    uint32_t shown = 0;
    int rc = 0;

    begin_table(html, "parameters");
    for (uint32_t i = 0; rc == 0 && i < facts->parameter_keys.count; i++) {
        const struct cunei_parameter_facts *parameter = &facts->parameters[i];
        if (!cunei_user_facts_is_few(facts, parameter) || shown >= CUNEI_HTML_ROWS_MAX)
            continue;
        begin_row(html, shown++);
        const char *name = facts->parameter_names.items[parameter->name];
        put_text(html, name);
        cunei_buffer_append_text(out, ",");
        put_value(html, name, parameter->text);
        cunei_buffer_append_text(out, ",");
        put_value(html, "",
                  parameter->is_region ? facts->region_names.items[parameter->region]
                                       : parameter->qualname);
        cunei_buffer_format(out, ",%d,%" PRIu64 ",%" PRIu64 "]", parameter->is_region,
                            parameter->count, parameter->total_ns);
        rc = cunei_page_flow(&html->page);
    }
    cunei_buffer_append_text(out, "]");
    return rc;
}

static void put_stream(struct cunei_html *html, const struct cunei_tokens_facts *tokens)
{
    const struct cunei_analysis *analysis = &html->analysis;
    bool has_gaps = tokens->histogram.span > 0;

    put_text(html, analysis->user_facts.token_names.items[tokens->name]);
    cunei_buffer_format(&html->page.text, ",%" PRIu32 ",%" PRIu64 ",%" PRIu64,
                        analysis->processes[tokens->process].process->metadata.pid,
                        tokens->number, tokens->count);
    put_ns(html, tokens->has_begun, cunei_export_since(html->export, tokens->begin_ns));
    put_ns(html, tokens->has_first, tokens->first_ns);
    cunei_buffer_format(&html->page.text, ",%.6g", tokens->per_s);
    put_ns(html, has_gaps, cunei_user_facts_tokens_quantile(tokens, 0.5));
    put_ns(html, has_gaps, cunei_user_facts_tokens_quantile(tokens, 0.9));
    put_ns(html, has_gaps, cunei_user_facts_tokens_quantile(tokens, 0.99));
    put_ns(html, has_gaps, tokens->max_ns);
    cunei_buffer_append_text(&html->page.text, "]");
}

/* [name, pid, stream, count, begin or -1, to the first or -1, per second, p50, p90,
 * p99, max or -1] */
static int put_tokens(struct cunei_html *html)
{
    const struct cunei_user_facts *facts = &html->analysis.user_facts;
    uint32_t count = facts->token_keys.count;
    int rc = 0;

    begin_table(html, "tokens");
    for (uint32_t i = 0; rc == 0 && i < count && i < CUNEI_HTML_ROWS_MAX; i++) {
        begin_row(html, i);
        put_stream(html, &facts->tokens[i]);
        rc = cunei_page_flow(&html->page);
    }
    cunei_buffer_append_text(&html->page.text, "]");
    return rc;
}

int cunei_html_put_user_tables(struct cunei_html *html)
{
    int rc = put_metadata(html);

    if (rc == 0)
        rc = put_regions(html);
    if (rc == 0)
        rc = put_parameters(html);
    return rc == 0 ? put_tokens(html) : rc;
}
