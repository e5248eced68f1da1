// `heddle eval`: how good a checkpoint is on a dataset, class by class.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "base/table.h"
#include "base/text.h"
#include "cli/checkpoint.h"
#include "cli/device.h"
#include "cli/json.h"
#include "cli/precision.h"
#include "heddle/heddle.h"

enum { NAME_SIZE = 1024 };

typedef struct eval_settings {
    const char *data, *folder, *device;
    int split, batch, kernels, precision, threads;
    heddle_cli_json json;
} eval_settings;

static const char *const splits[] = {"test", "train", NULL};

#define PLACE(field) offsetof(eval_settings, field)

static const heddle_cli_option options[] = {
    {"data", HEDDLE_CLI_TEXT, PLACE(data), "NAME|DIR", NULL, "dataset; the one it was trained on unless told", 0, 0,
     NULL},
    {"folder", HEDDLE_CLI_TEXT, PLACE(folder), "DIR", NULL, "look for named datasets here first", 0, 0, NULL},
    {"split", HEDDLE_CLI_CHOICE, PLACE(split), "PART", "test", "which images", 0, 0, splits},
    {"batch", HEDDLE_CLI_INT, PLACE(batch), "N", "256", "images at a time", 1, 1e6, NULL},
    {"kernels", HEDDLE_CLI_CHOICE, PLACE(kernels), "PART", "fused", "which part of the ladders to use", 0, 0,
     heddle_tier_names},
    {"device", HEDDLE_CLI_TEXT, PLACE(device), "NAME", NULL, HEDDLE_CLI_DEVICE_HELP, 0, 0, NULL},
    {"precision", HEDDLE_CLI_CHOICE, PLACE(precision), "TYPE", "fp32", HEDDLE_CLI_PRECISION_FORWARD_HELP, 0, 0,
     heddle_cli_precisions},
    {"threads", HEDDLE_CLI_INT, PLACE(threads), "N", "0", "CPU threads; 0: one a core", 0, 1024, NULL},
    HEDDLE_CLI_JSON_OPTION(PLACE(json)),
};

// Per class: how many there are, how many were found, and what the others were mostly taken for.
static heddle_status print_classes(const heddle_network *network, const heddle_evaluation *evaluation)
{
    heddle_table *table = heddle_table_create();
    if (!table)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a table");
    heddle_table_column(table, "class", HEDDLE_LEFT);
    heddle_table_column(table, "images", HEDDLE_RIGHT);
    heddle_table_column(table, "right", HEDDLE_RIGHT);
    heddle_table_column(table, "mostly taken for", HEDDLE_LEFT);
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
    heddle_status status = heddle_table_print(table, stdout);
    heddle_table_destroy(table);
    return status;
}

// What an evaluation holds, so that one function lets all of it go.
typedef struct evaluation {
    const eval_settings *settings;
    heddle_cli_device device;
    heddle_dataset *dataset;
    heddle_network *network;
    heddle_evaluation result;
    char trained_on[NAME_SIZE];
    double seconds;
} evaluation;

static heddle_status open_all(evaluation *opened, const char *given)
{
    const eval_settings *settings = opened->settings;
    char checkpoint[HEDDLE_CLI_CHECKPOINT_SIZE];
    heddle_train_options trained;
    heddle_network_options how = {
        .batch = settings->batch,
        .kernels = (heddle_tier)settings->kernels,
        .arithmetic = (heddle_arithmetic)settings->precision,
        .deterministic = true,
    };
    HEDDLE_TRY(heddle_cli_can_write(settings->json.file));
    HEDDLE_TRY(heddle_cli_device_open(settings->device, settings->threads, NULL, &opened->device));
    HEDDLE_TRY(heddle_cli_precision_check(opened->device.kind, how.arithmetic));
    HEDDLE_TRY(heddle_cli_checkpoint(given, checkpoint));
    HEDDLE_TRY(heddle_train_options_from(checkpoint, &trained, opened->trained_on, sizeof opened->trained_on));
    HEDDLE_TRY(heddle_dataset_open(settings->data ? settings->data : opened->trained_on, settings->folder,
                                   settings->split == 0 ? HEDDLE_TEST : HEDDLE_TRAIN, &opened->dataset));
    HEDDLE_TRY(heddle_network_open_with(opened->device.device, checkpoint, &how, &opened->network));
    int classes = heddle_model_input(heddle_network_model(opened->network)).classes;
    opened->result.confusion = calloc((size_t)classes * (size_t)classes, sizeof *opened->result.confusion);
    return opened->result.confusion ? HEDDLE_OK
                                    : heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for %d classes", classes);
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
    heddle_cli_device_add(&done->device, json);
    cJSON *classes = cJSON_AddArrayToObject(json, "classes");
    cJSON *confusion = cJSON_AddArrayToObject(json, "confusion");
    for (int i = 0; i < result->classes; i++) {
        cJSON_AddItemToArray(classes, cJSON_CreateString(heddle_network_class_name(done->network, i)));
        cJSON_AddItemToArray(confusion, cJSON_CreateIntArray(&result->confusion[i * result->classes], result->classes));
    }
    return json;
}

static heddle_status print_text(const evaluation *done)
{
    const eval_settings *settings = done->settings;
    const heddle_evaluation *result = &done->result;
    heddle_cli_device_print(&done->device, stderr);
    HEDDLE_TRY(print_classes(done->network, result));
    printf("\n%s, %s: %d of %d right, accuracy %.2f %%, loss %.4f (%.0f images/s)\n", done->dataset->name,
           splits[settings->split], result->correct, result->count, 100 * result->accuracy, result->loss,
           result->count / done->seconds);
    if (settings->data && strcmp(settings->data, done->trained_on) != 0) // so that nobody wonders at chance accuracy
        printf("trained on %s\n", done->trained_on);
    return HEDDLE_OK;
}

static heddle_status evaluate(evaluation *opened, const char *given)
{
    HEDDLE_TRY(open_all(opened, given));
    double begin = heddle_now();
    HEDDLE_TRY(heddle_network_evaluate(opened->network, opened->dataset, &opened->result));
    opened->seconds = heddle_now() - begin;
    if (!opened->settings->json.print)
        HEDDLE_TRY(print_text(opened));
    return heddle_cli_json_result(&opened->settings->json, to_json(opened));
}

int heddle_cli_eval(int argc, char **argv)
{
    eval_settings settings = {0};
    heddle_cli_arguments arguments;
    int exit_code;
    if (!heddle_cli_parse(&heddle_command_eval, argc, argv, &settings, &arguments, &exit_code))
        return exit_code;
    evaluation opened = {.settings = &settings};
    heddle_status status = evaluate(&opened, arguments.items[0]);
    exit_code = status == HEDDLE_OK ? HEDDLE_EXIT_OK : heddle_cli_fail(status);
    free(opened.result.confusion);
    heddle_network_close(opened.network);
    heddle_dataset_close(opened.dataset);
    heddle_cli_device_close(&opened.device);
    return exit_code;
}

const heddle_cli_command heddle_command_eval = {
    .name = "eval",
    .summary = "measure a trained network on a dataset",
    .arguments = "CHECKPOINT",
    .least_arguments = 1,
    .most_arguments = 1,
    .description = "CHECKPOINT is a file, or the folder of a run, whose best.safetensors is taken.",
    .example = "heddle eval runs/fashion-cnn\n"
               "heddle eval runs/mnist-cnn/best.safetensors --data ~/digits --json",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = heddle_cli_eval,
};
