// SPDX-License-Identifier: MIT
#include "survey/comparison.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "survey/survey.h"
#include "trace/prof.h"

struct facts {
    double calls, self_ns, total_ns;
    bool is_there;
};

static char *keep(struct cunei_comparison *comparison, const char *text)
{
    char **texts = realloc(comparison->texts,
                           (comparison->text_count + 1) * sizeof(*comparison->texts));
    if (!texts)
        return NULL;
    comparison->texts = texts;
    texts[comparison->text_count] = strdup(text);
    return texts[comparison->text_count] ? texts[comparison->text_count++] : NULL;
}

/* The item of a key, made if there is none; NULL: no memory. */
static struct cunei_comparison_item *find(struct cunei_comparison *comparison,
                                          const struct cunei_function *key)
{
    struct cunei_function copy = *key;

    if (comparison->count == comparison->capacity) {
        uint32_t capacity = comparison->capacity ? 2 * comparison->capacity : 256;
        struct cunei_comparison_item *grown =
            realloc(comparison->items, capacity * sizeof(*grown));
        if (!grown)
            return NULL;
        comparison->items = grown;
        comparison->capacity = capacity;
    }
    copy.module = keep(comparison, key->module);
    copy.qualname = keep(comparison, key->qualname);
    copy.file = keep(comparison, key->file);
    if (!copy.module || !copy.qualname || !copy.file)
        return NULL;
    int index = cunei_functions_add(&comparison->keys, &copy);
    if (index < 0)
        return NULL;
    if ((uint32_t)index == comparison->count)
        comparison->items[comparison->count++] = (struct cunei_comparison_item){0};
    else /* it has the texts of the first one */
        for (unsigned i = 0; i < 3; i++)
            free(comparison->texts[--comparison->text_count]);
    return &comparison->items[index];
}

/* What people see of it: the names of a trace say more than cProfile's. */
static bool name(struct cunei_comparison_item *item, const struct cunei_function *names)
{
    if (item->qualname && (item->module[0] || !names->module[0]))
        return true;
    free(item->module);
    free(item->qualname);
    free(item->file);
    item->module = strdup(names->module);
    item->qualname = strdup(names->qualname);
    item->file = strdup(names->file);
    item->line = names->line;
    return item->module && item->qualname && item->file;
}

/* Welford's way: the mean and the squared differences from it, run by run. */
static void add_run(struct cunei_comparison_side *side, const struct facts *facts)
{
    side->runs++;
    double before = facts->self_ns - side->self_ns;
    side->calls += (facts->calls - side->calls) / side->runs;
    side->self_ns += before / side->runs;
    side->total_ns += (facts->total_ns - side->total_ns) / side->runs;
    side->self_variance += before * (facts->self_ns - side->self_ns);
}

/* What a run says of each item, before it is added to a side. */
struct run {
    struct cunei_comparison *comparison;
    struct facts *facts; /* owned: by item */
    uint32_t capacity;
};

static int run_add(struct run *run, const struct cunei_function *key,
                   const struct cunei_function *names, const struct facts *facts)
{
    struct cunei_comparison *comparison = run->comparison;
    struct cunei_comparison_item *item = find(comparison, key);

    if (!item || !name(item, names))
        return -ENOMEM;
    if (!run->facts || run->capacity < comparison->capacity) {
        struct facts *grown =
            realloc(run->facts, comparison->capacity * sizeof(*grown));
        if (!grown)
            return -ENOMEM;
        memset(grown + run->capacity, 0,
               (comparison->capacity - run->capacity) * sizeof(*grown));
        run->facts = grown;
        run->capacity = comparison->capacity;
    }
    struct facts *sum = &run->facts[item - comparison->items];
    sum->is_there = true;
    sum->calls += facts->calls;
    sum->self_ns += facts->self_ns;
    sum->total_ns += facts->total_ns;
    return 0;
}

static void run_end(struct run *run, unsigned side)
{
    struct cunei_comparison *comparison = run->comparison;

    for (uint32_t i = 0; i < run->capacity && i < comparison->count; i++) {
        if (!run->facts[i].is_there)
            continue;
        add_run(&comparison->items[i].sides[side], &run->facts[i]);
        comparison->self_ns[side] += run->facts[i].self_ns;
        comparison->calls[side] += run->facts[i].calls;
    }
    comparison->runs[side]++;
    free(run->facts);
}

/* As cProfile would call it. */
static struct cunei_function label(const struct cunei_function *function)
{
    const char *dot = strrchr(function->qualname, '.');

    return (struct cunei_function){.module = "",
                                   .qualname =
                                       dot && dot[1] ? dot + 1 : function->qualname,
                                   .file = function->file,
                                   .line = function->line};
}

struct place {
    const struct cunei_function *function;
};

static int compare_places(const void *a, const void *b)
{
    const struct place *one = a, *two = b;
    int order = strcmp(one->function->file, two->function->file);

    if (order != 0)
        return order;
    return one->function->line < two->function->line
               ? -1
               : one->function->line > two->function->line;
}

/* Which of those with the same names it is: lines tell, but they move. */
static struct cunei_function numbered(struct cunei_functions *seen,
                                      const struct cunei_function *function)
{
    struct cunei_function key = {
        .module = function->module, .qualname = function->qualname, .file = ""};
    uint32_t before;

    do {
        before = seen->count;
        key.line++;
    } while (cunei_functions_add(seen, &key) >= 0 && seen->count == before);
    return key;
}

static int add_functions(struct run *run, const struct cunei_survey *survey,
                         const struct place *sorted)
{
    struct cunei_functions seen = {0};
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < survey->functions.count; i++) {
        const struct cunei_function *function = sorted[i].function;
        const struct cunei_survey_function *from =
            &survey->facts[function - survey->functions.items];
        if (from->calls + from->resumes + from->total_ns == 0)
            continue;
        bool by_label = run->comparison->by_label;
        struct facts facts = {
            .calls = (double)(from->calls + (by_label ? from->resumes : 0)),
            .self_ns = (double)from->self_ns,
            .total_ns = (double)from->total_ns};
        struct cunei_function key =
            by_label ? label(function) : numbered(&seen, function);
        rc = run_add(run, &key, function, &facts);
    }
    cunei_functions_fini(&seen);
    return rc;
}

int cunei_comparison_add(struct cunei_comparison *comparison, unsigned side,
                         const struct cunei_survey *survey)
{
    struct run run = {.comparison = comparison};
    uint32_t count = survey->functions.count;
    struct place *sorted = calloc(count + (size_t)1, sizeof(*sorted));

    if (!sorted)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++)
        sorted[i].function = &survey->functions.items[i];
    qsort(sorted, count, sizeof(*sorted), compare_places);
    int rc = add_functions(&run, survey, sorted);
    free(sorted);
    run_end(&run, side);
    return rc;
}

int cunei_comparison_add_prof(struct cunei_comparison *comparison, unsigned side,
                              const struct cunei_prof *prof)
{
    struct run run = {.comparison = comparison};
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < prof->count; i++) {
        const struct cunei_prof_function *from = &prof->functions[i];
        const struct cunei_function names = {.module = "",
                                             .qualname = from->name,
                                             .file = from->file,
                                             .line = from->line};
        const struct facts facts = {.calls = (double)from->calls,
                                    .self_ns = (double)from->self_ns,
                                    .total_ns = (double)from->total_ns};
        rc = run_add(&run, &names, &names, &facts);
    }
    run_end(&run, side);
    return rc;
}

/* A function that a run does not have took no time in it. */
static void settle(struct cunei_comparison_side *side, uint32_t runs)
{
    static const struct facts none = {0};
    uint32_t seen = side->runs;

    while (side->runs < runs)
        add_run(side, &none);
    side->runs = seen;
    side->self_variance = runs > 1 ? side->self_variance / (runs - 1) : 0;
}

/* The regularised incomplete beta function by its continued fraction (Lentz). */
static double incomplete_beta(double a, double b, double x)
{
    const double tiny = 1e-300;
    double front =
        exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)) / a;
    double c = 1, d = 1 - (a + b) * x / (a + 1), result;

    d = 1 / (fabs(d) < tiny ? tiny : d);
    result = d;
    for (int m = 1; m < 200; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        for (int i = 0; i < 2; i++) {
            double step = i == 0 ? even : odd;
            d = 1 + step * d;
            c = 1 + step / c;
            d = 1 / (fabs(d) < tiny ? tiny : d);
            c = fabs(c) < tiny ? tiny : c;
            result *= c * d;
        }
        if (fabs(c * d - 1) < 1e-12)
            break;
    }
    return front * result;
}

/* Welch's test: how likely so big a difference is between runs of the same program. */
static double chance_of(const struct cunei_comparison *comparison,
                        const struct cunei_comparison_item *item)
{
    double errors[2], sum, freedom = 0;

    for (unsigned i = 0; i < 2; i++) {
        if (comparison->runs[i] < 2)
            return 1;
        errors[i] = item->sides[i].self_variance / comparison->runs[i];
    }
    sum = errors[0] + errors[1];
    double difference = item->sides[1].self_ns - item->sides[0].self_ns;
    if (sum <= 0)
        return difference == 0 ? 1 : 0;
    for (unsigned i = 0; i < 2; i++)
        freedom += errors[i] * errors[i] / (comparison->runs[i] - 1);
    freedom = sum * sum / freedom;
    double x = freedom / (freedom + difference * difference / sum);
    /* The fraction converges fast on one side only. */
    double a = freedom / 2, b = 0.5;
    if (x >= 1)
        return 1;
    return x < (a + 1) / (a + b + 2) ? incomplete_beta(a, b, x)
                                     : 1 - incomplete_beta(b, a, 1 - x);
}

void cunei_comparison_finish(struct cunei_comparison *comparison)
{
    for (uint32_t i = 0; i < comparison->count; i++) {
        struct cunei_comparison_item *item = &comparison->items[i];
        for (unsigned side = 0; side < 2; side++)
            settle(&item->sides[side], comparison->runs[side]);
        item->chance = chance_of(comparison, item);
    }
    for (unsigned side = 0; side < 2; side++) {
        uint32_t runs = comparison->runs[side];
        comparison->self_ns[side] /= runs > 0 ? runs : 1;
        comparison->calls[side] /= runs > 0 ? runs : 1;
    }
}

void cunei_comparison_fini(struct cunei_comparison *comparison)
{
    for (uint32_t i = 0; i < comparison->count; i++) {
        free(comparison->items[i].module);
        free(comparison->items[i].qualname);
        free(comparison->items[i].file);
    }
    free(comparison->items);
    for (size_t i = 0; i < comparison->text_count; i++)
        free(comparison->texts[i]);
    free(comparison->texts);
    cunei_functions_fini(&comparison->keys);
    *comparison = (struct cunei_comparison){0};
}
