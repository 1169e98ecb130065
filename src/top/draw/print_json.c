// SPDX-License-Identifier: MIT
#include "top/draw/print_json.h"

#include <errno.h>

#include "report/report.h"
#include "text/json.h"
#include "top/view/model.h"

struct moment {
    struct cunei_top_model *model;
    const struct cunei_analysis *analysis;
    const char *trace;
};

static void put_share(struct cunei_json *json, const char *key, uint64_t part,
                      uint64_t whole)
{
    cunei_json_real(json, key, cunei_top_rates_share(part, whole));
}

static void put_rate(struct cunei_json *json, const char *key,
                     const struct cunei_top_rates *rates, uint64_t count)
{
    cunei_json_real(json, key, cunei_top_rates_per_second(rates, count));
}

/* Of the interval: behind the head of the report. */
static void put_rates(const void *context, struct cunei_json *json)
{
    const struct moment *moment = context;
    const struct cunei_top_rates *rates = cunei_top_model_rates(moment->model);

    cunei_json_text(json, "trace", moment->trace);
    cunei_json_number(json, "time_ns", moment->model->now.time_ns);
    cunei_json_flag(json, "running", !moment->model->has_ended);
    cunei_json_number(json, "missed", moment->model->now.missed);
    cunei_json_open(json, "rates", '{');
    cunei_json_real(json, "interval_s", rates->seconds);
    put_rate(json, "events_per_s", rates, rates->events);
    put_rate(json, "calls_per_s", rates, rates->calls);
    put_rate(json, "raised_per_s", rates, rates->raised);
    put_rate(json, "lost_per_s", rates, rates->lost);
    put_share(json, "waiting_share", rates->waiting_ns, rates->threads_ns);
    cunei_json_real(json, "cpu_share",
                    rates->seconds > 0 ? (double)rates->cpu_ns / 1e9 / rates->seconds
                                       : 0);
    cunei_json_real(json, "cost_share",
                    rates->cpu_ns > 0 ? rates->cost_ns / (double)rates->cpu_ns : 0);
    cunei_json_close(json, '}');
}

/* Of the interval: behind the numbers of a function. */
static void put_function(const void *context, struct cunei_json *json, uint32_t index)
{
    const struct moment *moment = context;
    const struct cunei_top_rates *rates = cunei_top_model_rates(moment->model);
    const struct cunei_analysis *analysis = moment->analysis;
    int64_t number = cunei_top_known_function(&moment->model->known,
                                              &analysis->functions.items[index], NULL);

    if (number < 0 || number >= rates->function_count)
        return;
    const struct cunei_top_rate *rate = &rates->functions[number];
    put_rate(json, "calls_per_s", rates, rate->calls);
    put_rate(json, "resumes_per_s", rates, rate->resumes);
    put_rate(json, "raised_per_s", rates, rate->raised);
    put_share(json, "self_share", rate->self_ns,
              moment->model->known.names[number].waits ? rates->threads_ns
                                                       : rates->work_ns);
    put_share(json, "total_share", rate->total_ns, rates->threads_ns);
}

int cunei_top_print_json(struct cunei_top_model *model,
                         const struct cunei_analysis *analysis, const char *trace,
                         FILE *out)
{
    const struct moment moment = {model, analysis, trace};
    const struct cunei_report_more more = {&moment, put_rates, put_function};
    const struct cunei_report_options options = {
        .more = &more, .json = true, .is_line = true};
    struct cunei_trace_error damage;

    int rc = cunei_report_print_sum(analysis, &options, out, &damage);
    return rc == -EBADMSG ? 0 : rc; /* the JSON names the damage */
}
