// Results as the JSON document that docs/measuring.md describes.

#include <math.h>

#include <cjson/cJSON.h>

#include "bench/bench.h"
#include "bench/facts.h"

static void add_text(cJSON *object, const char *name, const char *text)
{
    if (text)
        cJSON_AddStringToObject(object, name, text);
    else
        cJSON_AddNullToObject(object, name);
}

static cJSON *result_json(const heddle_bench_result *result)
{
    const heddle_bench_timing *timing = &result->timing;
    bool timed = heddle_bench_is_timed(result);
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "op", result->op->name);
    cJSON_AddStringToObject(json, "rung", result->rung->name);
    cJSON_AddStringToObject(json, "tier", heddle_tier_names[result->rung->tier]);
    cJSON_AddStringToObject(json, "arithmetic", heddle_arithmetic_names[result->rung->arithmetic]);
    add_text(json, "note", result->rung->note);
    cJSON_AddStringToObject(json, "shape", result->shape);
    cJSON_AddStringToObject(json, "dtype", result->precision);
    heddle_bench_add_figure(json, "microseconds", timed ? 1e6 * timing->seconds : NAN);
    heddle_bench_add_figure(json, "low", timed ? 1e6 * timing->low : NAN);
    heddle_bench_add_figure(json, "high", timed ? 1e6 * timing->high : NAN);
    heddle_bench_add_figure(json, "back_to_back", timed ? 1e6 * timing->back_to_back : NAN);
    cJSON_AddNumberToObject(json, "launches", timing->launches);
    cJSON_AddBoolToObject(json, "captured", timing->captured);
    cJSON_AddBoolToObject(json, "settled", timing->settled);
    cJSON_AddNumberToObject(json, "flops", result->cost.flops);
    cJSON_AddNumberToObject(json, "bytes", result->cost.bytes_read + result->cost.bytes_written);
    heddle_bench_add_figure(json, "gflops", timed ? result->flops_per_second / 1e9 : NAN);
    heddle_bench_add_figure(json, "gbytes_per_second", timed ? result->bytes_per_second / 1e9 : NAN);
    heddle_bench_add_figure(json, "roofline", timed ? result->roofline : NAN);
    add_text(json, "bound", timed ? result->bound : NULL);
    heddle_bench_add_figure(json, "ratio", timed ? result->ratio : NAN);
    add_text(json, "vendor_rung", timed ? result->versus : NULL);
    cJSON_AddBoolToObject(json, "best_own", timed && result->best_own);
    cJSON_AddBoolToObject(json, "checked", result->state == HEDDLE_BENCH_RIGHT);
    bool compared = result->state != HEDDLE_BENCH_UNCHECKED && result->state != HEDDLE_BENCH_NOT_RUN;
    heddle_bench_add_figure(json, "max_error", compared ? result->worst : NAN);
    heddle_bench_add_figure(json, "error_share", compared ? result->worst_share : NAN);
    cJSON_AddStringToObject(json, "status", heddle_bench_state_names[result->state]);
    add_text(json, "message", result->message[0] ? result->message : NULL);
    return json;
}

cJSON *heddle_bench_json(const heddle_bench *bench)
{
    cJSON *json = cJSON_CreateObject();
    heddle_bench_add_facts(json, &(heddle_bench_facts){.format = "heddle bench 1",
                                                       .began = bench->began,
                                                       .device = &bench->info,
                                                       .clock_after = bench->clock_after,
                                                       .memory_clock_after = bench->memory_clock_after,
                                                       .copy_bandwidth = bench->copy_bandwidth});
    cJSON_AddNumberToObject(json, "threads", bench->info.threads);
    char seed[32];
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)bench->options.seed); // a double holds 53 bits of it
    cJSON_AddStringToObject(json, "seed", seed);
    cJSON_AddNumberToObject(json, "seconds", bench->options.seconds);
    if (bench->options.sweep)
        cJSON_AddStringToObject(json, "sweep", bench->options.sweep);
    cJSON_AddBoolToObject(json, "complete", bench->complete);
    cJSON *results = cJSON_AddArrayToObject(json, "results");
    for (int i = 0; results && i < bench->count; i++)
        cJSON_AddItemToArray(results, result_json(&bench->results[i]));
    return json;
}
