// The JSON document of `heddle bench train` and `heddle bench infer`; docs/training-measured.md lists its fields.

#include <math.h>

#include <cjson/cJSON.h>

#include "bench/facts.h"
#include "cli/bench_network.h"
#include "cli/precision.h"

cJSON *heddle_cli_network_row_json(const heddle_cli_network_bench *bench, const heddle_cli_network_row *row)
{
    const heddle_device_info *info = row->on_cpu ? &bench->cpu : &bench->info;
    const heddle_rate *rate = &row->rate;
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "device", heddle_device_kind_name(info->kind));
    cJSON_AddStringToObject(json, "kernels", heddle_tier_names[row->kernels]);
    cJSON_AddStringToObject(json, "precision", heddle_cli_precisions[row->arithmetic]);
    if (row->asked != row->arithmetic)
        cJSON_AddStringToObject(json, "asked_precision", heddle_cli_precisions[row->asked]);
    cJSON_AddNumberToObject(json, "batch", row->batch);
    cJSON_AddStringToObject(json, "status", row->measured ? "measured" : "failed");
    if (!row->measured) {
        cJSON_AddStringToObject(json, "message", row->message);
        return json;
    }
    // All computed the same way: rounding must not put the median, or a round, outside its own range.
    cJSON_AddNumberToObject(json, "microseconds", 1e6 * row->batch / rate->images_per_second);
    cJSON_AddNumberToObject(json, "low", 1e6 * row->batch / rate->most);
    cJSON_AddNumberToObject(json, "high", 1e6 * row->batch / rate->least);
    cJSON *rounds = cJSON_AddArrayToObject(json, "rounds");
    for (int i = 0; i < rate->rounds; i++)
        cJSON_AddItemToArray(rounds, cJSON_CreateNumber(1e6 * row->batch / rate->round[i]));
    if (isfinite(rate->sustained))
        cJSON_AddNumberToObject(json, "sustained", 1e6 * row->batch / rate->sustained);
    if (isfinite(rate->loss))
        cJSON_AddNumberToObject(json, "loss", rate->loss);
    cJSON_AddNumberToObject(json, "rate", rate->images_per_second);
    cJSON_AddNumberToObject(json, "steps", (double)rate->images / row->batch);
    if (row == bench->rows) // the others begin with everything open, and with the cache that this one left
        cJSON_AddNumberToObject(json, "start_seconds", rate->first - bench->started);
    double speedup = heddle_cli_network_speedup(bench, row);
    if (isfinite(speedup)) {
        const cJSON *peer = heddle_cli_network_fastest(bench, row);
        cJSON_AddNumberToObject(json, "ratio", speedup);
        cJSON_AddStringToObject(json, "peer", heddle_cli_network_text(peer, "framework"));
        cJSON_AddStringToObject(json, "peer_mode", heddle_cli_network_text(peer, "mode"));
    }
    return json;
}

cJSON *heddle_cli_network_json(const heddle_cli_network_bench *bench)
{
    cJSON *json = cJSON_CreateObject();
    heddle_bench_add_facts(json, &(heddle_bench_facts){.format = "heddle bench network 1",
                                                       .began = bench->began,
                                                       .device = &bench->info,
                                                       .clock_after = bench->info_after.clock,
                                                       .memory_clock_after = bench->info_after.memory_clock});
    heddle_cli_device_add(&bench->device, json);
    cJSON_AddStringToObject(json, "job", bench->job);
    cJSON_AddStringToObject(json, "model", bench->settings->model);
    cJSON_AddStringToObject(json, "data", bench->data);
    cJSON_AddStringToObject(json, "data_place", heddle_data_place_names[bench->settings->data_place]);
    cJSON_AddBoolToObject(json, "deterministic", !bench->settings->unordered);
    if (bench->settings->sustained > 0)
        cJSON_AddNumberToObject(json, "sustained_seconds", bench->settings->sustained);
    cJSON_AddStringToObject(json, "cpu_name", bench->cpu.name);
    cJSON_AddNumberToObject(json, "threads", bench->cpu.threads);
    cJSON *results = cJSON_AddArrayToObject(json, "results");
    for (int i = 0; i < bench->row_count; i++)
        if (bench->rows[i].measured || bench->rows[i].message[0])
            cJSON_AddItemToArray(results, heddle_cli_network_row_json(bench, &bench->rows[i]));
    if (bench->peers)
        cJSON_AddItemToObject(json, "peers", cJSON_Duplicate(bench->peers, true));
    return json;
}
