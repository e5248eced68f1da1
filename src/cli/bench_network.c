// `heddle bench train` and `heddle bench infer`: how fast whole networks train and predict on this machine.

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "bench/rate.h"
#include "cli/bench.h"
#include "heddle/heddle.h"

static heddle_status print_json(const heddle_cli_bench_settings *settings, const char *job,
                                const heddle_device_info *info, const heddle_rate *rate)
{
    bool to_stdout = strcmp(settings->json, "-") == 0;
    FILE *file = to_stdout ? stdout : fopen(settings->json, "we");
    if (!file)
        return heddle_fail(HEDDLE_IO, "%s: %s", settings->json, strerror(errno));
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "job", job);
    cJSON_AddStringToObject(json, "model", settings->model);
    cJSON_AddNumberToObject(json, "batch", settings->batch);
    cJSON_AddStringToObject(json, "kernels", heddle_tier_names[settings->kernels]);
    cJSON_AddStringToObject(json, "device", info->name);
    cJSON_AddNumberToObject(json, "threads", info->threads);
    cJSON_AddStringToObject(json, "version", heddle_version());
    cJSON_AddNumberToObject(json, "rate", rate->images_per_second);
    cJSON_AddNumberToObject(json, "least", rate->least);
    cJSON_AddNumberToObject(json, "most", rate->most);
    cJSON_AddNumberToObject(json, "step_ms", rate->step_milliseconds);
    char *text = cJSON_PrintUnformatted(json);
    fprintf(file, "%s\n", text ? text : "{}");
    cJSON_free(text);
    cJSON_Delete(json);
    if ((to_stdout ? fflush(file) : fclose(file)) != 0)
        return heddle_fail(HEDDLE_IO, "%s: %s", settings->json, strerror(errno));
    return HEDDLE_OK;
}

static heddle_status measure(const heddle_cli_bench_settings *settings, heddle_device *device,
                             const heddle_dataset *dataset, const char *job)
{
    heddle_input_shape input = {dataset->channels, dataset->height, dataset->width, dataset->classes};
    heddle_device_info info;
    heddle_model *model = NULL;
    HEDDLE_TRY(heddle_device_describe(device, &info));
    HEDDLE_TRY(heddle_model_open(settings->model, &input, &model));
    heddle_rate_options how = {
        .batch = settings->batch,
        .kernels = (heddle_tier)settings->kernels,
        .seconds = settings->seconds > 0 ? settings->seconds : 1,
        .rounds = settings->rounds,
        .warm_up = 10,
    };
    bool only_json = settings->json && strcmp(settings->json, "-") == 0;
    if (!only_json)
        printf("%s, batch %d, %s kernels, %s, %d threads\n", settings->model, settings->batch,
               heddle_tier_names[settings->kernels], info.name, info.threads);
    heddle_rate rate;
    heddle_status status = strcmp(job, "train") == 0 ? heddle_rate_train(device, model, dataset, &how, &rate)
                                                     : heddle_rate_infer(device, model, dataset, &how, &rate);
    if (status == HEDDLE_OK && !only_json)
        printf("%s  %8.0f images/s  (%.0f to %.0f)  %.3f ms a step\n", job, rate.images_per_second, rate.least,
               rate.most, rate.step_milliseconds);
    if (status == HEDDLE_OK && settings->json)
        status = print_json(settings, job, &info, &rate);
    heddle_model_close(model);
    return status;
}

int heddle_cli_bench_network(const heddle_cli_bench_settings *settings, const char *job)
{
    heddle_dataset *dataset = NULL;
    heddle_device *device = NULL;
    heddle_status status = heddle_dataset_open(settings->data, settings->folder, HEDDLE_TRAIN, &dataset);
    if (status == HEDDLE_OK)
        status = heddle_device_open(settings->device ? settings->device : "cpu", settings->threads, &device);
    if (status == HEDDLE_OK)
        status = measure(settings, device, dataset, job);
    int exit_code = status == HEDDLE_OK ? HEDDLE_EXIT_OK : heddle_cli_fail(status);
    if (device)
        heddle_device_close(device);
    heddle_dataset_close(dataset);
    return exit_code;
}
