// `heddle eval`: how good a checkpoint is on a dataset, class by class.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "base/table.h"
#include "base/text.h"
#include "cli/checkpoint.h"
#include "cli/precision.h"
#include "heddle/heddle.h"

enum { NAME_SIZE = 1024 };

typedef struct eval_settings {
    const char *data, *folder, *device;
    int split, batch, kernels, precision, threads;
    bool json;
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
    {"device", HEDDLE_CLI_TEXT, PLACE(device), "NAME", "cpu", "where to run: cpu, cuda, cuda:1, or sim", 0, 0, NULL},
    {"precision", HEDDLE_CLI_CHOICE, PLACE(precision), "TYPE", "fp32", HEDDLE_CLI_PRECISION_FORWARD_HELP, 0, 0,
     heddle_cli_precisions},
    {"threads", HEDDLE_CLI_INT, PLACE(threads), "N", "0", "CPU threads; 0: one a core", 0, 1024, NULL},
    {"json", HEDDLE_CLI_FLAG, PLACE(json), NULL, NULL, "print JSON, confusion matrix included", 0, 0, NULL},
};

static heddle_status print_json(const heddle_network *network, const heddle_dataset *dataset,
                                const heddle_evaluation *evaluation, double seconds)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "data", dataset->name);
    cJSON_AddNumberToObject(json, "images", evaluation->count);
    cJSON_AddNumberToObject(json, "correct", evaluation->correct);
    cJSON_AddNumberToObject(json, "accuracy", evaluation->accuracy);
    cJSON_AddNumberToObject(json, "loss", evaluation->loss);
    cJSON_AddNumberToObject(json, "seconds", seconds);
    cJSON *classes = cJSON_AddArrayToObject(json, "classes");
    cJSON *confusion = cJSON_AddArrayToObject(json, "confusion");
    for (int i = 0; i < evaluation->classes; i++) {
        cJSON_AddItemToArray(classes, cJSON_CreateString(heddle_network_class_name(network, i)));
        cJSON_AddItemToArray(
            confusion, cJSON_CreateIntArray(&evaluation->confusion[i * evaluation->classes], evaluation->classes));
    }
    char *text = cJSON_Print(json);
    cJSON_Delete(json);
    if (!text)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the JSON output");
    puts(text);
    cJSON_free(text);
    return HEDDLE_OK;
}

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

static heddle_status evaluate(const eval_settings *settings, const char *given)
{
    char trained_on[NAME_SIZE], checkpoint[HEDDLE_CLI_CHECKPOINT_SIZE];
    heddle_train_options trained;
    HEDDLE_TRY(heddle_cli_precision_check(settings->device, (heddle_arithmetic)settings->precision));
    HEDDLE_TRY(heddle_cli_checkpoint(given, checkpoint));
    HEDDLE_TRY(heddle_train_options_from(checkpoint, &trained, trained_on, sizeof trained_on));
    const char *name = settings->data ? settings->data : trained_on;
    heddle_split split = settings->split == 0 ? HEDDLE_TEST : HEDDLE_TRAIN;
    heddle_dataset *dataset = NULL;
    heddle_device *device = NULL;
    heddle_network *network = NULL;
    int *confusion = NULL;
    heddle_network_options how = {
        .batch = settings->batch,
        .kernels = (heddle_tier)settings->kernels,
        .arithmetic = (heddle_arithmetic)settings->precision,
        .deterministic = true,
    };
    heddle_status status = heddle_dataset_open(name, settings->folder, split, &dataset);
    if (status == HEDDLE_OK)
        status = heddle_device_open(settings->device, settings->threads, &device);
    if (status == HEDDLE_OK)
        status = heddle_network_open_with(device, checkpoint, &how, &network);
    if (status == HEDDLE_OK) {
        int classes = heddle_model_input(heddle_network_model(network)).classes;
        confusion = calloc((size_t)classes * (size_t)classes, sizeof *confusion);
        status = confusion ? HEDDLE_OK : heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for %d classes", classes);
    }
    heddle_evaluation evaluation = {.confusion = confusion};
    double begin = heddle_now();
    if (status == HEDDLE_OK)
        status = heddle_network_evaluate(network, dataset, &evaluation);
    double seconds = heddle_now() - begin;
    if (status == HEDDLE_OK && settings->json) {
        status = print_json(network, dataset, &evaluation, seconds);
    } else if (status == HEDDLE_OK) {
        status = print_classes(network, &evaluation);
        printf("\n%s, %s: %d of %d right, accuracy %.2f %%, loss %.4f (%.0f images/s)\n", dataset->name,
               splits[settings->split], evaluation.correct, evaluation.count, 100 * evaluation.accuracy,
               evaluation.loss, evaluation.count / seconds);
        if (strcmp(name, trained_on) != 0) // so that nobody wonders at an accuracy of chance
            printf("trained on %s\n", trained_on);
    }
    free(confusion);
    heddle_network_close(network);
    if (device)
        heddle_device_close(device);
    heddle_dataset_close(dataset);
    return status;
}

int heddle_cli_eval(int argc, char **argv)
{
    eval_settings settings = {0};
    heddle_cli_arguments arguments;
    int exit_code;
    if (!heddle_cli_parse(&heddle_command_eval, argc, argv, &settings, &arguments, &exit_code))
        return exit_code;
    heddle_status status = evaluate(&settings, arguments.items[0]);
    return status == HEDDLE_OK ? HEDDLE_EXIT_OK : heddle_cli_fail(status);
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
