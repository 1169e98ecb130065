// SPDX-License-Identifier: MIT
/* The regions of a report, also by the values of their parameters. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "report/region_functions.h"
#include "report/section.h"
#include "text/format.h"
#include "text/json.h"
#include "text/table.h"

/* The functions of a region that JSON lists. */
#define FUNCTIONS_MAX 8u

static const struct cunei_column columns[] = {
    {.head = "total"},
    {.head = "%", .rank = 1},
    {.head = "count"},
    {.head = "resumes", .rank = 5},
    {.head = "mean"},
    {.head = "≈p50", .rank = 3},
    {.head = "≈p99", .rank = 2},
    {.head = "max", .rank = 4},
    {.head = "region", .min = 20},
};

static uint64_t mean_ns(uint64_t total_ns, uint64_t count)
{
    return count > 0 ? total_ns / count : 0;
}

static void add_region(const struct cunei_report *report, struct cunei_table *table,
                       uint32_t index)
{
    const struct cunei_user_facts *facts = &report->analysis->user_facts;
    const struct cunei_region_facts *region = &facts->regions[index];
    bool is_known = region->histogram.span > 0;
    enum cunei_ink heat = cunei_report_heat(report, region->total_ns);

    cunei_format_duration(cunei_table_cell(table, heat), region->total_ns);
    cunei_format_percent(cunei_table_cell(table, heat), region->total_ns,
                         report->waiting.threads_ns);
    cunei_format_count(cunei_table_cell(table, CUNEI_INK_PLAIN), region->count);
    struct cunei_buffer *resumes = cunei_table_cell(table, CUNEI_INK_PLAIN);
    if (region->resumes > 0)
        cunei_format_count(resumes, region->resumes);
    cunei_report_add_duration(table, region->count > 0,
                              cunei_user_facts_region_mean(region));
    cunei_report_add_duration(table, is_known,
                              cunei_user_facts_region_quantile(region, 0.5));
    cunei_report_add_duration(table, is_known,
                              cunei_user_facts_region_quantile(region, 0.99));
    cunei_report_add_duration(table, is_known, region->max_ns);
    cunei_format_name(cunei_table_cell(table, CUNEI_INK_STRONG),
                      facts->region_names.items[index]);
}

/* The row of a parameter, up to its name; returns the cell to append the value to. */
static struct cunei_buffer *add_given(const struct cunei_report *report,
                                      struct cunei_table *table,
                                      const struct cunei_parameter_facts *parameter,
                                      uint64_t total_ns, uint64_t count)
{
    const struct cunei_user_facts *facts = &report->analysis->user_facts;

    cunei_format_duration(cunei_table_cell(table, CUNEI_INK_DIM), total_ns);
    cunei_format_percent(cunei_table_cell(table, CUNEI_INK_DIM), total_ns,
                         report->waiting.threads_ns);
    cunei_format_count(cunei_table_cell(table, CUNEI_INK_DIM), count);
    (void)cunei_table_cell(table, CUNEI_INK_DIM);
    cunei_format_duration(cunei_table_cell(table, CUNEI_INK_DIM),
                          mean_ns(total_ns, count));
    for (unsigned i = 0; i < 3; i++)
        (void)cunei_table_cell(table, CUNEI_INK_DIM);
    struct cunei_buffer *cell = cunei_table_cell(table, CUNEI_INK_DIM);
    if (parameter->is_region)
        cunei_buffer_append_text(cell, "  ");
    else
        cunei_buffer_format(cell, "%s() ", parameter->qualname);
    cunei_format_name(cell, facts->parameter_names.items[parameter->name]);
    return cell;
}

/* A text that looks like a number is printed in quotes. */
static bool reads_as_number(const char *text)
{
    char *end = NULL;

    (void)strtod(text, &end);
    return end != text && *end == '\0';
}

static void put_value(struct cunei_buffer *cell,
                      const struct cunei_parameter_facts *parameter)
{
    bool is_text = parameter->json && parameter->json[0] == '"';

    cunei_buffer_format(cell,
                        is_text && reads_as_number(parameter->text) ? "=\"%s\"" : "=%s",
                        parameter->text);
}

struct entry {
    uint64_t key;
    const char *name, *value;
    uint32_t index;
};

static int compare(const void *a, const void *b)
{
    const struct entry *one = a, *two = b;

    if (one->key != two->key)
        return one->key > two->key ? -1 : 1;
    int order = strcmp(one->name, two->name);
    return order ? order : strcmp(one->value, two->value);
}

/* By region, then by name, then by time. */
static int compare_parameters(const void *a, const void *b)
{
    const struct cunei_parameter_facts *one =
        *(const struct cunei_parameter_facts *const *)a;
    const struct cunei_parameter_facts *two =
        *(const struct cunei_parameter_facts *const *)b;

    if (one->is_region != two->is_region)
        return one->is_region ? -1 : 1;
    if (one->region != two->region)
        return one->region < two->region ? -1 : 1;
    if (one->group != two->group)
        return one->group < two->group ? -1 : 1;
    if (one->total_ns != two->total_ns)
        return one->total_ns > two->total_ns ? -1 : 1;
    if (!one->text || !two->text)
        return !one->text - !two->text;
    return strcmp(one->text, two->text);
}

/* Regions by their time, parameters by their regions. */
struct order {
    struct entry *regions; /* owned, as the next */
    uint32_t region_count;
    const struct cunei_parameter_facts **parameters;
    uint32_t parameter_count;
};

static void order_fini(struct order *order)
{
    free(order->regions);
    free((void *)order->parameters);
}

static int order_init(struct order *order, const struct cunei_user_facts *facts)
{
    *order = (struct order){
        .regions = calloc(facts->region_names.count + 1, sizeof(*order->regions)),
        .parameters = calloc(facts->parameter_keys.count + 1, sizeof(const void *)),
    };
    if (!order->regions || !order->parameters) {
        order_fini(order);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < facts->region_names.count; i++) {
        const struct cunei_region_facts *region = &facts->regions[i];
        if (region->count > 0 || region->total_ns > 0)
            order->regions[order->region_count++] =
                (struct entry){region->total_ns, facts->region_names.items[i], "", i};
    }
    for (uint32_t i = 0; i < facts->parameter_keys.count; i++) {
        if (facts->parameters[i].count > 0)
            order->parameters[order->parameter_count++] = &facts->parameters[i];
    }
    qsort(order->regions, order->region_count, sizeof(*order->regions), compare);
    qsort((void *)order->parameters, order->parameter_count, sizeof(const void *),
          compare_parameters);
    return 0;
}

/* The first parameter of a region. */
static uint32_t find_first(const struct order *order, uint32_t region)
{
    const struct cunei_parameter_facts *const *items = order->parameters;

    return (uint32_t)CUNEI_VECTOR_BISECT(
        i, order->parameter_count, items[i]->is_region && items[i]->region < region);
}

/* The first parameter of a function; those of regions come before. */
static uint32_t find_functions(const struct order *order)
{
    return find_first(order, UINT32_MAX);
}

static bool is_of(const struct order *order, uint32_t index, uint32_t region)
{
    return index < order->parameter_count && order->parameters[index]->is_region &&
           order->parameters[index]->region == region;
}

/* The index after one row: a row is one value, or all values of a parameter that has
 * too many. */
static uint32_t find_next(const struct cunei_report *report, const struct order *order,
                          uint32_t index)
{
    const struct cunei_parameter_facts *parameter = order->parameters[index];
    uint32_t next = index + 1;

    if (cunei_user_facts_is_few(&report->analysis->user_facts, parameter))
        return next;
    while (next < order->parameter_count &&
           order->parameters[next]->group == parameter->group)
        next++;
    return next;
}

static void add_many(const struct cunei_report *report, struct cunei_table *table,
                     const struct order *order, uint32_t first, uint32_t next)
{
    const struct cunei_parameter_facts *parameter = order->parameters[first];
    uint32_t values = cunei_user_facts_values(&report->analysis->user_facts, parameter);
    uint64_t total_ns = 0, count = 0;

    for (uint32_t i = first; i < next; i++) {
        total_ns += order->parameters[i]->total_ns;
        count += order->parameters[i]->count;
    }
    struct cunei_buffer *cell = add_given(report, table, parameter, total_ns, count);
    cunei_buffer_append_text(cell, values > CUNEI_VALUES_MAX ? ": more than " : ": ");
    cunei_format_count(cell, values > CUNEI_VALUES_MAX ? CUNEI_VALUES_MAX : values);
    cunei_buffer_append_text(cell, " values");
}

/* Add one row; returns the index after it. */
static uint32_t add_parameter(const struct cunei_report *report,
                              struct cunei_table *table, const struct order *order,
                              uint32_t index)
{
    const struct cunei_parameter_facts *parameter = order->parameters[index];
    uint32_t next = find_next(report, order, index);

    if (cunei_user_facts_is_few(&report->analysis->user_facts, parameter))
        put_value(
            add_given(report, table, parameter, parameter->total_ns, parameter->count),
            parameter);
    else
        add_many(report, table, order, index, next);
    return next;
}

static void add_parameters(const struct cunei_report *report, struct cunei_table *table,
                           const struct order *order, uint32_t region)
{
    for (uint32_t i = find_first(order, region); is_of(order, i, region);)
        i = add_parameter(report, table, order, i);
}

/* Rows for parameters of functions; returns how many were added, `count` is how many
 * there are. */
static uint32_t add_functions(const struct cunei_report *report,
                              struct cunei_table *table, const struct order *order,
                              uint32_t *count)
{
    uint64_t limit = report->options->limit;
    uint32_t shown = 0;

    *count = 0;
    for (uint32_t i = find_functions(order); i < order->parameter_count; ++*count) {
        if (limit > 0 && shown >= limit) {
            i = find_next(report, order, i);
            continue;
        }
        i = add_parameter(report, table, order, i);
        shown++;
    }
    return shown;
}

static int print(const struct cunei_report *report, struct cunei_report_rows *rows)
{
    const struct cunei_user_facts *facts = &report->analysis->user_facts;
    uint32_t functions = 0;
    struct cunei_table table;
    struct order order;

    int rc = order_init(&order, facts);
    if (rc < 0)
        return rc;
    uint32_t shown = (uint32_t)cunei_report_limit(report, order.region_count);
    cunei_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
    for (uint32_t i = 0; i < shown; i++) {
        uint32_t region = order.regions[i].index;
        add_region(report, &table, region);
        add_parameters(report, &table, &order, region);
    }
    shown += add_functions(report, &table, &order, &functions);
    rc = cunei_report_print_table(report, &table, "No region was recorded.\n");
    *rows = (struct cunei_report_rows){shown, order.region_count + functions};
    order_fini(&order);
    return rc;
}

static void put_parameter(const struct cunei_user_facts *facts, struct cunei_json *json,
                          const struct cunei_parameter_facts *parameter, bool is_alone)
{
    cunei_json_open(json, NULL, '{');
    cunei_json_text(json, "name", facts->parameter_names.items[parameter->name]);
    cunei_json_raw(json, "value", parameter->json ? parameter->json : "null");
    if (is_alone) {
        cunei_json_text(
            json, "region",
            parameter->is_region ? facts->region_names.items[parameter->region] : NULL);
        cunei_json_text(json, "module",
                        parameter->is_region ? NULL : parameter->module);
        cunei_json_text(json, "function",
                        parameter->is_region ? NULL : parameter->qualname);
        cunei_json_flag(json, "others", !parameter->json);
    }
    cunei_json_number(json, "count", parameter->count);
    cunei_json_number(json, "total_ns", parameter->total_ns);
    cunei_json_close(json, '}');
}

/* The costliest functions in a region; time in no function has no names. */
static void put_functions(const struct cunei_report *report, struct cunei_json *json,
                          const struct cunei_region_functions *functions,
                          const char *region)
{
    uint32_t count = 0;
    const struct cunei_region_function *items =
        cunei_region_functions_find(functions, region, &count);

    cunei_json_open(json, "functions", '[');
    for (uint32_t i = 0; i < count && i < FUNCTIONS_MAX; i++) {
        const struct cunei_function *names =
            items[i].slot ? &report->analysis->functions.items[items[i].slot - 1]
                          : NULL;
        cunei_json_open(json, NULL, '{');
        cunei_report_put_function(json, "qualname", names, names ? names->line : 0);
        cunei_json_number(json, "calls", items[i].calls);
        cunei_json_number(json, "self_ns", items[i].self_ns);
        cunei_json_close(json, '}');
    }
    cunei_json_close(json, ']');
}

static void put_region(const struct cunei_report *report, struct cunei_json *json,
                       const struct order *order,
                       const struct cunei_region_functions *functions, uint32_t index)
{
    const struct cunei_user_facts *facts = &report->analysis->user_facts;
    const struct cunei_region_facts *region = &facts->regions[index];

    cunei_json_open(json, NULL, '{');
    cunei_json_text(json, "name", facts->region_names.items[index]);
    cunei_json_number(json, "count", region->count);
    cunei_json_number(json, "resumes", region->resumes);
    cunei_json_number(json, "total_ns", region->total_ns);
    cunei_json_number(json, "mean_ns", cunei_user_facts_region_mean(region));
    cunei_json_number(json, "p50_ns", cunei_user_facts_region_quantile(region, 0.5));
    cunei_json_number(json, "p99_ns", cunei_user_facts_region_quantile(region, 0.99));
    cunei_json_number(json, "max_ns", region->max_ns);
    cunei_json_open(json, "parameters", '[');
    for (uint32_t i = find_first(order, index); is_of(order, i, index); i++) {
        if (cunei_user_facts_is_few(facts, order->parameters[i]))
            put_parameter(facts, json, order->parameters[i], false);
    }
    cunei_json_close(json, ']');
    if (report->analysis->tree)
        put_functions(report, json, functions, facts->region_names.items[index]);
    cunei_json_close(json, '}');
}

static int print_json(const struct cunei_report *report, struct cunei_json *json)
{
    const struct cunei_user_facts *facts = &report->analysis->user_facts;
    struct cunei_region_functions functions;
    struct order order;

    int rc = order_init(&order, facts);
    if (rc < 0)
        return rc;
    rc = cunei_region_functions_init(&functions, report);
    if (rc < 0) {
        order_fini(&order);
        return rc;
    }
    cunei_json_open(json, "regions", '[');
    for (uint32_t i = 0; i < order.region_count; i++)
        put_region(report, json, &order, &functions, order.regions[i].index);
    cunei_json_close(json, ']');
    cunei_json_open(json, "parameters", '[');
    for (uint32_t i = 0; i < order.parameter_count; i++)
        put_parameter(facts, json, order.parameters[i], true);
    cunei_json_close(json, ']');
    cunei_region_functions_fini(&functions);
    order_fini(&order);
    return 0;
}

static bool has_rows(const struct cunei_analysis *analysis)
{
    return analysis->regions + analysis->user_events[CUNEI_CLASS_TAG] > 0;
}

const struct cunei_report_section cunei_report_section_regions = {
    .name = "regions",
    .help = "show the program's regions: how often, how long, by\n"
            "the values of their parameters",
    .needs = CUNEI_REPORT_NEEDS_USER_EVENTS,
    .needs_json = CUNEI_REPORT_NEEDS_TREE, /* for the functions in each region */
    .has_rows = has_rows,
    .print = print,
    .print_json = print_json,
};
