// `heddle eval`: evaluates a checkpoint on a dataset, class by class.

#include <stdio.h>
#include <stdlib.h>

#include <cjson/cJSON.h>

#include "base/table.h"
#include "base/text.h"
#include "cli/network.h"

typedef struct eval_settings {
    heddle_cli_network_settings network;
} eval_settings;

static const heddle_cli_option options[] = {
    {"data", HEDDLE_CLI_TEXT, offsetof(eval_settings, network.data), "NAME|DIR", NULL,
     "dataset to evaluate on; default: the dataset that the network was trained on", 0, 0, NULL},
    HEDDLE_CLI_NETWORK_OPTIONS(eval_settings),
};

// Per class: the number of images, the share classified correctly, and the class most often confused with it.
static heddle_status print_classes(const heddle_network *network, const heddle_evaluation *evaluation)
{
    heddle_table *table = heddle_table_create();
    heddle_table_column(table, "class", HEDDLE_LEFT);
    heddle_table_column(table, "images", HEDDLE_RIGHT);
    heddle_table_column(table, "correct", HEDDLE_RIGHT);
    heddle_table_column(table, "most often mistaken for", HEDDLE_LEFT);
    for (int i = 0; i < evaluation->classes; i++) {
        const int *row = &evaluation->confusion[i * evaluation->classes];
        int total = 0, worst = -1;
        for (int j = 0; j < evaluation->classes; j++) {
            total += row[j];
            if (j != i && row[j] > 0 && (worst < 0 || row[j] > row[worst]))
                worst = j;
        }
        heddle_table_cell(table, "%s", heddle_network_class_name(network, i));
        heddle_table_cell(table, "%d", total);
        if (total)
            heddle_table_cell(table, "%.1f %%", 100.0 * row[i] / total);
        else
            heddle_table_cell(table, "–");
        if (worst >= 0)
            heddle_table_cell(table, "%s (%d)", heddle_network_class_name(network, worst), row[worst]);
        else
            heddle_table_cell(table, "%s", "");
    }
    return heddle_table_finish(table, stdout);
}

// Everything that an evaluation holds, freed together.
typedef struct evaluation {
    const heddle_cli_network_settings *settings;
    heddle_cli_network trained;
    heddle_dataset *dataset;
    heddle_evaluation result;
    heddle_evaluation in_float; // the same network in fp32, beside int8; no images: not evaluated
    double seconds;
} evaluation;

static heddle_status open_all(evaluation *opened, const char *given)
{
    HEDDLE_TRY(heddle_cli_network_open(opened->settings, given, opened->settings->batch, &opened->trained));
    HEDDLE_TRY(heddle_cli_network_dataset(&opened->trained, opened->settings, &opened->dataset));
    const int classes = opened->trained.input.classes;
    opened->result.confusion = calloc((size_t)classes * (size_t)classes, sizeof *opened->result.confusion);
    return opened->result.confusion ? HEDDLE_OK
                                    : heddle_fail(HEDDLE_OUT_OF_MEMORY, "not enough memory for %d classes", classes);
}

static cJSON *to_json(const evaluation *done)
{
    const heddle_evaluation *result = &done->result;
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "data", done->dataset->name);
    cJSON_AddNumberToObject(json, "images", result->count);
    cJSON_AddNumberToObject(json, "correct", result->correct);
    cJSON_AddNumberToObject(json, "accuracy", result->accuracy);
    cJSON_AddNumberToObject(json, "loss", result->loss);
    cJSON_AddNumberToObject(json, "seconds", done->seconds);
    if (done->in_float.count > 0) {
        cJSON_AddNumberToObject(json, "fp32_accuracy", done->in_float.accuracy);
        cJSON_AddNumberToObject(json, "fp32_loss", done->in_float.loss);
    }
    heddle_cli_device_add(&done->trained.device, json);
    cJSON *classes = cJSON_AddArrayToObject(json, "classes");
    cJSON *confusion = cJSON_AddArrayToObject(json, "confusion");
    for (int i = 0; i < result->classes; i++) {
        cJSON_AddItemToArray(classes, cJSON_CreateString(heddle_network_class_name(done->trained.network, i)));
        cJSON_AddItemToArray(confusion, cJSON_CreateIntArray(&result->confusion[i * result->classes], result->classes));
    }
    return json;
}

static heddle_status print_text(const evaluation *done)
{
    const heddle_evaluation *result = &done->result;
    HEDDLE_TRY(print_classes(done->trained.network, result));
    printf("\n%s, %s: %d of %d correct, accuracy %.2f %%, loss %.4f (%.0f images/s)\n", done->dataset->name,
           heddle_cli_splits[done->settings->split], result->correct, result->count, 100 * result->accuracy,
           result->loss, result->count / done->seconds);
    if (done->in_float.count > 0)
        printf("fp32: %d of %d correct, accuracy %.2f %%, loss %.4f; int8 differs by %+.2f percentage points\n",
               done->in_float.correct, done->in_float.count, 100 * done->in_float.accuracy, done->in_float.loss,
               100 * (result->accuracy - done->in_float.accuracy));
    heddle_cli_network_print_origin(&done->trained, done->settings);
    return HEDDLE_OK;
}

// What int8 is compared with.
static heddle_status evaluate_in_float(evaluation *opened, const char *given)
{
    heddle_cli_network_settings settings = *opened->settings;
    heddle_cli_network network;
    settings.precision = HEDDLE_FULL;
    settings.calibrate_with = NULL;
    settings.json.print = true; // the device was named before
    heddle_status status = heddle_cli_network_open(&settings, given, settings.batch, &network);
    if (status == HEDDLE_OK)
        status = heddle_network_evaluate(network.network, opened->dataset, &opened->in_float);
    heddle_cli_network_close(&network);
    return status;
}

static heddle_status evaluate(evaluation *opened, const char *given)
{
    HEDDLE_TRY(open_all(opened, given));
    double begin = heddle_now();
    HEDDLE_TRY(heddle_network_evaluate(opened->trained.network, opened->dataset, &opened->result));
    opened->seconds = heddle_now() - begin;
    if (opened->trained.quantised)
        HEDDLE_TRY(evaluate_in_float(opened, given));
    if (!opened->settings->json.print)
        HEDDLE_TRY(print_text(opened));
    return heddle_cli_json_result(&opened->settings->json, to_json(opened));
}

static int run_command(int argc, char **argv)
{
    eval_settings settings = {0};
    heddle_cli_arguments arguments;
    int exit_code;
    if (!heddle_cli_parse(&heddle_command_eval, argc, argv, &settings, &arguments, &exit_code))
        return exit_code;
    evaluation opened = {.settings = &settings.network};
    heddle_status status = evaluate(&opened, arguments.items[0]);
    exit_code = status == HEDDLE_OK ? HEDDLE_EXIT_OK : heddle_cli_fail(status);
    free(opened.result.confusion);
    heddle_dataset_close(opened.dataset);
    heddle_cli_network_close(&opened.trained);
    return exit_code;
}

const heddle_cli_command heddle_command_eval = {
    .name = "eval",
    .summary = "evaluate a trained network on a dataset",
    .arguments = "CHECKPOINT",
    .least_arguments = 1,
    .most_arguments = 1,
    .description = "CHECKPOINT is a checkpoint file, or the folder of a run with best.safetensors.",
    .example = "heddle eval runs/fashion-cnn\n"
               "heddle eval runs/mnist-cnn/best.safetensors --data ~/digits --json\n"
               "heddle eval runs/mnist-cnn --precision int8",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run_command,
};
