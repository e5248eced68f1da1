// The JSON document of `heddle bench train` and `heddle bench infer`; docs/training-measured.md lists its fields.

#include <math.h>

#include <cjson/cJSON.h>

#include "bench/facts.h"
#include "cli/bench_network.h"
#include "cli/precision.h"

cJSON *heddle_cli_step_json(const heddle_cli_road *road, const heddle_cli_step *step)
{
    const heddle_device_info *info = step->on_cpu ? &road->cpu : &road->info;
    const heddle_rate *rate = &step->rate;
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "device", heddle_device_kind_name(info->kind));
    cJSON_AddStringToObject(json, "kernels", heddle_tier_names[step->kernels]);
    cJSON_AddStringToObject(json, "precision", heddle_cli_precisions[step->arithmetic]);
    cJSON_AddNumberToObject(json, "batch", step->batch);
    cJSON_AddStringToObject(json, "status", step->measured ? "measured" : "failed");
    if (!step->measured) {
        cJSON_AddStringToObject(json, "message", step->message);
        return json;
    }
    // All by the same arithmetic: rounding must not put the median, or a round, outside its own range.
    cJSON_AddNumberToObject(json, "microseconds", 1e6 * step->batch / rate->images_per_second);
    cJSON_AddNumberToObject(json, "low", 1e6 * step->batch / rate->most);
    cJSON_AddNumberToObject(json, "high", 1e6 * step->batch / rate->least);
    cJSON *rounds = cJSON_AddArrayToObject(json, "rounds");
    for (int i = 0; i < rate->rounds; i++)
        cJSON_AddItemToArray(rounds, cJSON_CreateNumber(1e6 * step->batch / rate->round[i]));
    if (isfinite(rate->sustained))
        cJSON_AddNumberToObject(json, "sustained", 1e6 * step->batch / rate->sustained);
    if (isfinite(rate->loss))
        cJSON_AddNumberToObject(json, "loss", rate->loss);
    cJSON_AddNumberToObject(json, "rate", rate->images_per_second);
    cJSON_AddNumberToObject(json, "steps", (double)rate->images / step->batch);
    double against = heddle_cli_road_against(road, step);
    if (isfinite(against))
        cJSON_AddNumberToObject(json, "ratio", against);
    return json;
}

cJSON *heddle_cli_road_json(const heddle_cli_road *road)
{
    cJSON *json = cJSON_CreateObject();
    heddle_bench_add_facts(json, &(heddle_bench_facts){.format = "heddle bench network 1",
                                                       .began = road->began,
                                                       .device = &road->info,
                                                       .clock_after = road->info_after.clock,
                                                       .memory_clock_after = road->info_after.memory_clock});
    heddle_cli_device_add(&road->device, json);
    cJSON_AddStringToObject(json, "job", road->job);
    cJSON_AddStringToObject(json, "model", road->settings->model);
    cJSON_AddStringToObject(json, "data", road->data);
    cJSON_AddStringToObject(json, "data_place", heddle_data_place_names[road->settings->data_place]);
    cJSON_AddBoolToObject(json, "deterministic", !road->settings->unordered);
    if (road->settings->sustained > 0)
        cJSON_AddNumberToObject(json, "sustained_seconds", road->settings->sustained);
    cJSON_AddStringToObject(json, "cpu_name", road->cpu.name);
    cJSON_AddNumberToObject(json, "threads", road->cpu.threads);
    cJSON *results = cJSON_AddArrayToObject(json, "results");
    for (int i = 0; i < road->step_count; i++)
        if (road->steps[i].measured || road->steps[i].message[0])
            cJSON_AddItemToArray(results, heddle_cli_step_json(road, &road->steps[i]));
    if (road->peers)
        cJSON_AddItemToObject(json, "peers", cJSON_Duplicate(road->peers, true));
    return json;
}
