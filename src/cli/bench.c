// `heddle bench`: how fast whole networks train and predict on this machine.

#include <stdio.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "bench/rate.h"
#include "cli/cli.h"
#include "heddle/heddle.h"

typedef struct bench_settings {
    const char *data, *folder, *model, *device;
    int batch, kernels, threads, rounds;
    double seconds;
    bool json;
} bench_settings;

static const char *const jobs[] = {"train", "infer"};

#define PLACE(field) offsetof(bench_settings, field)

static const heddle_cli_option options[] = {
    {"batch", HEDDLE_CLI_INT, PLACE(batch), "N", "64", "images a step", 1, 8192, NULL},
    {"kernels", HEDDLE_CLI_CHOICE, PLACE(kernels), "PART", "fused", "which part of the ladders to measure", 0, 0,
     heddle_tier_names},
    {"model", HEDDLE_CLI_TEXT, PLACE(model), "NAME|FILE", "cnn", "cnn, mlp, or a model file in JSON", 0, 0, NULL},
    {"data", HEDDLE_CLI_TEXT, PLACE(data), "NAME|DIR", "synth:count=8192", "images to measure on", 0, 0, NULL},
    {"folder", HEDDLE_CLI_TEXT, PLACE(folder), "DIR", NULL, "look for named datasets here first", 0, 0, NULL},
    {"device", HEDDLE_CLI_TEXT, PLACE(device), "NAME", "cpu", "where to run", 0, 0, NULL},
    {"threads", HEDDLE_CLI_INT, PLACE(threads), "N", "0", "CPU threads; 0: one a core", 0, 1024, NULL},
    {"seconds", HEDDLE_CLI_NUMBER, PLACE(seconds), "S", "1", "length of a round", 0.01, 3600, NULL},
    {"rounds", HEDDLE_CLI_INT, PLACE(rounds), "N", "5", "rounds; the median is shown", 1, HEDDLE_RATE_MAX_ROUNDS, NULL},
    {"json", HEDDLE_CLI_FLAG, PLACE(json), NULL, NULL, "print one JSON object a job", 0, 0, NULL},
};

static void print_json(const bench_settings *settings, const char *job, const heddle_device_info *info,
                       const heddle_rate *rate)
{
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
    puts(text ? text : "{}");
    fflush(stdout);
    cJSON_free(text);
    cJSON_Delete(json);
}

static heddle_status measure(const bench_settings *settings, heddle_device *device, const heddle_dataset *dataset,
                             const char *only)
{
    heddle_input_shape input = {dataset->channels, dataset->height, dataset->width, dataset->classes};
    heddle_device_info info;
    heddle_model *model = NULL;
    HEDDLE_TRY(heddle_device_describe(device, &info));
    HEDDLE_TRY(heddle_model_open(settings->model, &input, &model));
    heddle_rate_options how = {
        .batch = settings->batch,
        .kernels = (heddle_tier)settings->kernels,
        .seconds = settings->seconds,
        .rounds = settings->rounds,
        .warm_up = 10,
    };
    heddle_status status = HEDDLE_OK;
    if (!settings->json)
        printf("%s, batch %d, %s kernels, %s, %d threads\n", settings->model, settings->batch,
               heddle_tier_names[settings->kernels], info.name, info.threads);
    for (int i = 0; i < 2 && status == HEDDLE_OK; i++) {
        if (only && only != jobs[i])
            continue;
        heddle_rate rate;
        status = i == 0 ? heddle_rate_train(device, model, dataset, &how, &rate)
                        : heddle_rate_infer(device, model, dataset, &how, &rate);
        if (status == HEDDLE_OK && settings->json)
            print_json(settings, jobs[i], &info, &rate);
        else if (status == HEDDLE_OK)
            printf("%s  %8.0f images/s  (%.0f to %.0f)  %.3f ms a step\n", jobs[i], rate.images_per_second, rate.least,
                   rate.most, rate.step_milliseconds);
    }
    heddle_model_close(model);
    return status;
}

int heddle_cli_bench(int argc, char **argv)
{
    bench_settings settings = {0};
    heddle_cli_arguments arguments;
    int exit_code;
    if (!heddle_cli_parse(&heddle_command_bench, argc, argv, &settings, &arguments, &exit_code))
        return exit_code;
    const char *only = NULL;
    for (int i = 0; i < 2 && arguments.count; i++)
        only = strcmp(arguments.items[0], jobs[i]) == 0 ? jobs[i] : only;
    if (arguments.count && !only)
        return heddle_cli_usage(&heddle_command_bench, "there is no job '%s'; it is train or infer",
                                arguments.items[0]);
    heddle_dataset *dataset = NULL;
    heddle_device *device = NULL;
    heddle_status status = heddle_dataset_open(settings.data, settings.folder, HEDDLE_TRAIN, &dataset);
    if (status == HEDDLE_OK)
        status = heddle_device_open(settings.device, settings.threads, &device);
    if (status == HEDDLE_OK)
        status = measure(&settings, device, dataset, only);
    exit_code = status == HEDDLE_OK ? HEDDLE_EXIT_OK : heddle_cli_fail(status);
    if (device)
        heddle_device_close(device);
    heddle_dataset_close(dataset);
    return exit_code;
}

const heddle_cli_command heddle_command_bench = {
    .name = "bench",
    .summary = "measure how fast a network trains and predicts here",
    .arguments = "[train|infer]",
    .most_arguments = 1,
    .description = "Runs the trainer itself: batch load, forward, backward and update count. Both jobs unless one is "
                   "named. `make bench-cpu` puts PyTorch beside it.",
    .example = "heddle bench train --batch 256\nheddle bench --kernels vendor --json",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = heddle_cli_bench,
};
