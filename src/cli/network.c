// Opens a checkpoint, given by name or by its run's folder, as a network on the requested device.

#include "cli/network.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "nn/trainer_folder.h"

enum { CHECKPOINT_SIZE = HEDDLE_CLI_CHECKPOINT_SIZE };

const char *const heddle_cli_splits[] = {"test", "train", NULL};

static heddle_status name_path(const char *folder, const char *name, char path[CHECKPOINT_SIZE])
{
    int length = (int)strlen(folder);
    while (length > 1 && folder[length - 1] == '/')
        length--;
    if (snprintf(path, CHECKPOINT_SIZE, "%.*s/%s", length, folder, name) < CHECKPOINT_SIZE)
        return HEDDLE_OK;
    return heddle_fail(HEDDLE_NOT_FOUND, "%.40s...: path too long", folder);
}

heddle_status heddle_cli_find_checkpoint(const char *given, char path[HEDDLE_CLI_CHECKPOINT_SIZE])
{
    char quoted[CHECKPOINT_SIZE];
    if (heddle_text_ends(given, ".json") && heddle_file_exists(given))
        return heddle_fail(HEDDLE_INVALID,
                           "%s is a model file, not a checkpoint; train it first: heddle train --model %s", given,
                           heddle_text_quote(given, quoted, sizeof quoted));
    if (heddle_text_ends(given, ".onnx") && heddle_file_exists(given))
        return heddle_fail(HEDDLE_INVALID,
                           "%s is an ONNX file, not a checkpoint; import it first: heddle import %s --out "
                           "FILE.safetensors",
                           given, heddle_text_quote(given, quoted, sizeof quoted));
    if (!heddle_folder_exists(given)) {
        if (snprintf(path, CHECKPOINT_SIZE, "%s", given) >= CHECKPOINT_SIZE)
            return heddle_fail(HEDDLE_NOT_FOUND, "%.40s...: path too long", given);
        return HEDDLE_OK;
    }
    bool best, last;
    HEDDLE_TRY(heddle_run_folder_holds(given, HEDDLE_RUN_BEST, &best));
    HEDDLE_TRY(heddle_run_folder_holds(given, HEDDLE_RUN_LAST, &last));
    if (!best && !last)
        return heddle_fail(HEDDLE_NOT_FOUND, "%s has neither %s nor %s: give a checkpoint or the folder of a run",
                           given, HEDDLE_RUN_BEST, HEDDLE_RUN_LAST);
    HEDDLE_TRY(name_path(given, best ? HEDDLE_RUN_BEST : HEDDLE_RUN_LAST, path));
    // The manual says that the best is used.
    heddle_log(best ? HEDDLE_LOG_INFO : HEDDLE_LOG_WARN, "%s is a folder: using %s%s", given, path,
               best ? "" : ", because there is no " HEDDLE_RUN_BEST);
    return HEDDLE_OK;
}

static void free_class_names(char **names, int count)
{
    for (int i = 0; i < count; i++)
        free(names[i]);
    free(names);
}

// NULL: no memory.
static char **copy_class_names(const heddle_cli_network *opened)
{
    const int count = opened->input.classes;
    char **names = calloc((size_t)count, sizeof *names);
    for (int i = 0; names && i < count; i++)
        if (!(names[i] = strdup(heddle_network_class_name(opened->network, i)))) {
            free_class_names(names, count);
            return NULL;
        }
    return names;
}

// Whether the classes are called 0, 1, 2 and so on, as where nobody has named them.
static bool has_numbered_classes(const heddle_cli_network *opened)
{
    char number[16];
    for (int i = 0; i < opened->input.classes; i++) {
        snprintf(number, sizeof number, "%d", i);
        if (strcmp(heddle_network_class_name(opened->network, i), number) != 0)
            return false;
    }
    return true;
}

// Image files are scaled to what the network takes; other datasets have a size of their own.
static heddle_status check_size(const heddle_cli_network *opened, const heddle_dataset *dataset)
{
    const heddle_input_shape *input = &opened->input;
    char hint[64] = "";
    if (dataset->channels == input->channels && dataset->height == input->height && dataset->width == input->width)
        return HEDDLE_OK;
    if (strcmp(dataset->name, "synth") == 0 && input->height == input->width)
        snprintf(hint, sizeof hint, "; use --data synth:size=%d,channels=%d", input->height, input->channels);
    return heddle_fail(HEDDLE_INVALID, "dataset %s has %d×%d×%d images, but the network takes %d×%d×%d%s",
                       dataset->name, dataset->channels, dataset->height, dataset->width, input->channels,
                       input->height, input->width, hint);
}

// A dataset with the network's classes.
static heddle_status open_dataset(const heddle_cli_network *opened, const heddle_cli_network_settings *settings,
                                  const char *name, heddle_split split, heddle_dataset **dataset)
{
    const heddle_input_shape *input = &opened->input;
    if (!name[0])
        return heddle_fail(HEDDLE_INVALID, "the network was imported and does not say what it was trained on; name a "
                                           "dataset with --data");
    char **names = copy_class_names(opened);
    if (!names)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "not enough memory for the names of %d classes", input->classes);
    const heddle_dataset_options how = {.folder = settings->folder,
                                        .channels = input->channels,
                                        .height = input->height,
                                        .width = input->width,
                                        .class_names = (const char *const *)names,
                                        .classes = input->classes,
                                        .threads = settings->threads};
    heddle_status status = heddle_cli_dataset_open(name, split, &how, settings->json.print, dataset);
    free_class_names(names, input->classes);
    if (status == HEDDLE_OK)
        return check_size(opened, *dataset);
    if (status == HEDDLE_INVALID && !opened->trained_on[0] && has_numbered_classes(opened) &&
        strstr(heddle_last_error(), ": class "))
        return heddle_fail(status,
                           "%s, whose names were not in the imported file; name all %d in their order: "
                           "heddle import FILE.onnx --out FILE.safetensors --classes NAME,NAME,...",
                           heddle_last_error(), input->classes);
    return status;
}

heddle_status heddle_cli_network_dataset(const heddle_cli_network *opened, const heddle_cli_network_settings *settings,
                                         heddle_dataset **dataset)
{
    return open_dataset(opened, settings, settings->data ? settings->data : opened->trained_on,
                        settings->split == 0 ? HEDDLE_TEST : HEDDLE_TRAIN, dataset);
}

// Images that the network was trained on, whatever it is evaluated on, unless others are named for it. If they are not
// here any more, those of --data are the next best.
static heddle_status open_calibration(const heddle_cli_network_settings *settings, const heddle_cli_network *opened,
                                      heddle_dataset **dataset)
{
    const char *option = settings->calibrate_option ? settings->calibrate_option : "--calibrate-with";
    if (settings->calibrate_with)
        return open_dataset(opened, settings, settings->calibrate_with, HEDDLE_TRAIN, dataset);
    heddle_status status = opened->trained_on[0]
                               ? open_dataset(opened, settings, opened->trained_on, HEDDLE_TRAIN, dataset)
                               : heddle_fail(HEDDLE_NOT_FOUND, "the network's file does not name its dataset");
    if ((status == HEDDLE_NOT_FOUND || status == HEDDLE_MISSING) && settings->data) {
        status = open_dataset(opened, settings, settings->data, HEDDLE_TRAIN, dataset);
        if (status == HEDDLE_OK && opened->trained_on[0])
            heddle_log(HEDDLE_LOG_WARN, "int8 is calibrated with the training images of %s: %s is not here",
                       settings->data, opened->trained_on);
    }
    if (status != HEDDLE_NOT_FOUND && status != HEDDLE_MISSING)
        return status;
    return heddle_fail(status, "int8 needs training images to calibrate with: %s; name a dataset with %s NAME|DIR",
                       heddle_last_error(), option);
}

static heddle_status calibrate(const heddle_cli_network_settings *settings, heddle_cli_network *opened)
{
    heddle_dataset *dataset = NULL;
    heddle_status status = open_calibration(settings, opened, &dataset);
    if (status == HEDDLE_OK)
        status = heddle_network_calibrate(opened->network, dataset, settings->calibrate, &opened->quantised);
    heddle_dataset_close(dataset);
    return status;
}

heddle_status heddle_cli_network_open(const heddle_cli_network_settings *settings, const char *given, int batch,
                                      heddle_cli_network *opened)
{
    char checkpoint[CHECKPOINT_SIZE];
    heddle_train_options trained;
    const heddle_network_options how = {
        .batch = batch,
        .kernels = (heddle_tier)settings->kernels,
        .arithmetic = (heddle_arithmetic)settings->precision,
        .deterministic = true,
    };
    *opened = (heddle_cli_network){.network = NULL};
    if (settings->calibrate_with && how.arithmetic != HEDDLE_INT8)
        return heddle_fail(HEDDLE_INVALID, "--calibrate-with goes with --precision int8");
    HEDDLE_TRY(heddle_cli_can_write(settings->json.file));
    HEDDLE_TRY(heddle_cli_device_open(settings->device, settings->threads, NULL, &opened->device));
    HEDDLE_TRY(heddle_cli_precision_check(opened->device.kind, how.arithmetic));
    HEDDLE_TRY(heddle_cli_find_checkpoint(given, checkpoint));
    HEDDLE_TRY(heddle_train_options_from(checkpoint, &trained, opened->trained_on, sizeof opened->trained_on));
    HEDDLE_TRY(heddle_network_open_with(opened->device.device, checkpoint, &how, &opened->network));
    opened->input = heddle_model_input(heddle_network_model(opened->network));
    if (!settings->json.print)
        heddle_cli_device_print(&opened->device, stderr);
    return how.arithmetic == HEDDLE_INT8 ? calibrate(settings, opened) : HEDDLE_OK;
}

void heddle_cli_network_close(heddle_cli_network *opened)
{
    heddle_network_close(opened->network);
    heddle_cli_device_close(&opened->device);
}

void heddle_cli_network_print_origin(const heddle_cli_network *opened, const heddle_cli_network_settings *settings)
{
    if (settings->data && opened->trained_on[0] && strcmp(settings->data, opened->trained_on) != 0)
        printf("trained on %s\n", opened->trained_on);
}
