// `heddle predict`: what a trained network sees in PNG files, or in images of a dataset.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <cjson/cJSON.h>

#include "base/log.h"
#include "base/text.h"
#include "cli/checkpoint.h"
#include "cli/device.h"
#include "cli/json.h"
#include "cli/precision.h"
#include "data/prepare.h"
#include "heddle/heddle.h"
#include "io/png.h"
#include "nn/network.h"

enum {
    NAME_SIZE = 1024,
    SAID_SIZE = 256,
    SHOWN_CLASSES = 3, // guesses a line names
    MOST_IMAGES = 100000,
};

typedef struct predict_settings {
    const char *data, *folder, *device;
    int index, count, batch, split, kernels, precision, threads;
    heddle_cli_json json;
} predict_settings;

static const char *const splits[] = {"test", "train", NULL};

#define PLACE(field) offsetof(predict_settings, field)

static const heddle_cli_option options[] = {
    {"data", HEDDLE_CLI_TEXT, PLACE(data), "NAME|DIR", NULL,
     "predict images of this dataset instead of PNG files; the one it was trained on if only --index is given", 0, 0,
     NULL},
    {"index", HEDDLE_CLI_INT, PLACE(index), "N", "0", "first image of the dataset, counted from 0", 0, 2e9, NULL},
    {"count", HEDDLE_CLI_INT, PLACE(count), "N", "1", "how many images of the dataset", 1, MOST_IMAGES, NULL},
    {"batch", HEDDLE_CLI_INT, PLACE(batch), "N", "256", "how many of them at a time, at most", 1, MOST_IMAGES, NULL},
    {"split", HEDDLE_CLI_CHOICE, PLACE(split), "PART", "test", "which images of the dataset", 0, 0, splits},
    {"folder", HEDDLE_CLI_TEXT, PLACE(folder), "DIR", NULL, "look for named datasets here first", 0, 0, NULL},
    {"kernels", HEDDLE_CLI_CHOICE, PLACE(kernels), "PART", "fused", "which part of the ladders to use", 0, 0,
     heddle_tier_names},
    {"device", HEDDLE_CLI_TEXT, PLACE(device), "NAME", NULL, HEDDLE_CLI_DEVICE_HELP, 0, 0, NULL},
    {"precision", HEDDLE_CLI_CHOICE, PLACE(precision), "TYPE", "fp32", HEDDLE_CLI_PRECISION_FORWARD_HELP, 0, 0,
     heddle_cli_precisions},
    {"threads", HEDDLE_CLI_INT, PLACE(threads), "N", "0", "CPU threads; 0: one a core", 0, 1024, NULL},
    HEDDLE_CLI_JSON_OPTION(PLACE(json)),
};

// The network and what it was trained on.
typedef struct predictor {
    const predict_settings *settings;
    heddle_cli_device device;
    heddle_network *network;
    heddle_input_shape input;
    char trained_on[NAME_SIZE];
    int batch;            // images at a time
    size_t pixels;        // of one
    float *images;        // (batch, channels, height, width)
    float *probabilities; // (batch, classes)
    int predicted, labelled, correct;
} predictor;

static heddle_status open_predictor(predictor *opened, const char *given)
{
    char checkpoint[HEDDLE_CLI_CHECKPOINT_SIZE];
    const predict_settings *settings = opened->settings;
    heddle_train_options trained;
    heddle_network_options how = {
        .batch = opened->batch,
        .kernels = (heddle_tier)settings->kernels,
        .arithmetic = (heddle_arithmetic)settings->precision,
        .deterministic = true,
    };
    HEDDLE_TRY(heddle_cli_can_write(settings->json.file));
    HEDDLE_TRY(heddle_cli_device_open(settings->device, settings->threads, NULL, &opened->device));
    HEDDLE_TRY(heddle_cli_precision_check(opened->device.kind, how.arithmetic));
    HEDDLE_TRY(heddle_cli_checkpoint(given, checkpoint));
    HEDDLE_TRY(heddle_train_options_from(checkpoint, &trained, opened->trained_on, sizeof opened->trained_on));
    HEDDLE_TRY(heddle_network_open_with(opened->device.device, checkpoint, &how, &opened->network));
    if (!settings->json.print)
        heddle_cli_device_print(&opened->device, stderr);
    opened->input = heddle_model_input(heddle_network_model(opened->network));
    opened->pixels = (size_t)opened->input.channels * (size_t)opened->input.height * (size_t)opened->input.width;
    opened->images = calloc((size_t)opened->batch * opened->pixels, sizeof(float));
    opened->probabilities = calloc((size_t)opened->batch * (size_t)opened->input.classes, sizeof(float));
    return opened->images && opened->probabilities
               ? HEDDLE_OK
               : heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for %d images", opened->batch);
}

static void close_predictor(predictor *opened)
{
    free(opened->images);
    free(opened->probabilities);
    heddle_network_close(opened->network);
    heddle_cli_device_close(&opened->device);
}

// The most likely class that is not among the `count` in `taken`.
static int next_best(const predictor *opened, const float *probabilities, const int *taken, int count)
{
    int best = -1;
    for (int i = 0; i < opened->input.classes; i++) {
        bool used = false;
        for (int j = 0; j < count; j++)
            used |= taken[j] == i;
        if (!used && (best < 0 || probabilities[i] > probabilities[best]))
            best = i;
    }
    return best;
}

// label < 0: nobody knows the answer
static void print_line(const predictor *opened, const float *probabilities, const char *name, const char *said,
                       int label)
{
    int guesses[SHOWN_CLASSES] = {0}, count = 0;
    while (count < SHOWN_CLASSES && count < opened->input.classes) {
        guesses[count] = next_best(opened, probabilities, guesses, count);
        count++;
    }
    printf("%s: ", name);
    for (int i = 0; i < count; i++)
        printf("%s%s %.1f %%",
               i == 0   ? ""
               : i == 1 ? "  (then "
                        : ", ",
               heddle_network_class_name(opened->network, guesses[i]), 100.0 * (double)probabilities[guesses[i]]);
    printf("%s", count > 1 ? ")" : "");
    if (label >= 0)
        printf("  %s", guesses[0] == label ? "right" : "wrong: it is ");
    if (label >= 0 && guesses[0] != label)
        printf("%s", heddle_network_class_name(opened->network, label));
    printf("\n");
    if (said[0])
        printf("    %s\n", said);
}

static void print_event(const predictor *opened, const float *probabilities, const char *name, const char *said,
                        int label)
{
    cJSON *json = cJSON_CreateObject();
    int best = next_best(opened, probabilities, NULL, 0);
    cJSON_AddStringToObject(json, "image", name);
    cJSON_AddNumberToObject(json, "class", best);
    cJSON_AddStringToObject(json, "name", heddle_network_class_name(opened->network, best));
    cJSON *all = cJSON_AddArrayToObject(json, "probabilities");
    for (int i = 0; i < opened->input.classes; i++)
        cJSON_AddItemToArray(all, cJSON_CreateNumber((double)probabilities[i]));
    if (label >= 0)
        cJSON_AddNumberToObject(json, "label", label);
    if (said[0])
        cJSON_AddStringToObject(json, "prepared", said);
    heddle_cli_json_event(&opened->settings->json, "prediction", json);
}

// Image `index` of the batch that was predicted.
static void print_image(predictor *opened, int index, const char *name, const char *said, int label)
{
    const float *probabilities = opened->probabilities + (size_t)index * (size_t)opened->input.classes;
    opened->predicted++;
    opened->labelled += label >= 0;
    opened->correct += label >= 0 && next_best(opened, probabilities, NULL, 0) == label;
    if (opened->settings->json.print)
        print_event(opened, probabilities, name, said, label);
    else
        print_line(opened, probabilities, name, said, label);
}

static cJSON *to_json(const predictor *opened)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "images", opened->predicted);
    if (opened->labelled > 0)
        cJSON_AddNumberToObject(json, "correct", opened->correct);
    cJSON_AddStringToObject(json, "trained_on", opened->trained_on);
    heddle_cli_device_add(&opened->device, json);
    return json;
}

static bool is_of_one_colour(const heddle_picture *picture, int channels)
{
    const size_t pixels = (size_t)picture->height * (size_t)picture->width;
    for (size_t i = 1; i < pixels; i++)
        if (memcmp(picture->pixels, picture->pixels + i * (size_t)channels, (size_t)channels) != 0)
            return false;
    return true;
}

static heddle_status predict_file(predictor *opened, const char *path)
{
    if (opened->input.channels != 1 && opened->input.channels != 3)
        return heddle_fail(HEDDLE_UNSUPPORTED, "the network takes %d channels; PNG files have 1 or 3",
                           opened->input.channels);
    heddle_picture picture = {0};
    HEDDLE_TRY(heddle_png_read(path, opened->input.channels, &picture));
    if (is_of_one_colour(&picture, opened->input.channels))
        heddle_log(HEDDLE_LOG_WARN, "%s is all of one colour: whatever is said of it was not seen there", path);
    heddle_prepare_options prepare = {
        .channels = opened->input.channels,
        .height = opened->input.height,
        .width = opened->input.width,
        .traits = heddle_network_traits(opened->network),
    };
    char said[SAID_SIZE];
    heddle_status status =
        heddle_prepare(picture.pixels, picture.height, picture.width, &prepare, opened->images, said, sizeof said);
    heddle_picture_free(&picture);
    HEDDLE_TRY(status);
    HEDDLE_TRY(heddle_network_predict(opened->network, opened->images, 1, opened->probabilities));
    print_image(opened, 0, path, said, -1);
    fflush(stdout); // whatever ends the command next
    return HEDDLE_OK;
}

static heddle_status predict_dataset(predictor *opened, const heddle_dataset *dataset)
{
    const predict_settings *settings = opened->settings;
    if (dataset->channels != opened->input.channels || dataset->height != opened->input.height ||
        dataset->width != opened->input.width)
        return heddle_fail(HEDDLE_INVALID, "dataset %s has %d×%d×%d images, the network takes %d×%d×%d", dataset->name,
                           dataset->channels, dataset->height, dataset->width, opened->input.channels,
                           opened->input.height, opened->input.width);
    if (settings->index > dataset->count - settings->count)
        return heddle_fail(HEDDLE_INVALID, "%s has %d images in its %s part; images %d to %d were asked for",
                           dataset->name, dataset->count, splits[settings->split], settings->index,
                           settings->index + settings->count - 1);
    for (int done = 0; done < settings->count; done += opened->batch) {
        int first = settings->index + done;
        int count = settings->count - done < opened->batch ? settings->count - done : opened->batch;
        const uint8_t *bytes = dataset->images + (size_t)first * opened->pixels;
        for (size_t i = 0; i < (size_t)count * opened->pixels; i++)
            opened->images[i] = (float)bytes[i] / 255.0F;
        HEDDLE_TRY(heddle_network_predict(opened->network, opened->images, count, opened->probabilities));
        for (int i = 0; i < count; i++) {
            char name[NAME_SIZE];
            snprintf(name, sizeof name, "%s %s image %d", dataset->name, splits[settings->split], first + i);
            print_image(opened, i, name, "", dataset->labels[first + i]);
        }
        fflush(stdout); // whatever ends the command next
    }
    return HEDDLE_OK;
}

static bool is_png(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && strcasecmp(dot, ".png") == 0;
}

int heddle_cli_predict(int argc, char **argv)
{
    predict_settings settings = {0};
    heddle_cli_arguments arguments;
    int exit_code;
    char quoted[NAME_SIZE];
    if (!heddle_cli_parse(&heddle_command_predict, argc, argv, &settings, &arguments, &exit_code))
        return exit_code;
    if (is_png(arguments.items[0]))
        return heddle_cli_usage(&heddle_command_predict, "the checkpoint comes first: heddle predict CHECKPOINT %s",
                                heddle_text_quote(arguments.items[0], quoted, sizeof quoted));
    bool from_data = settings.data || heddle_cli_given(&heddle_command_predict, &arguments, "index") ||
                     heddle_cli_given(&heddle_command_predict, &arguments, "count");
    if (from_data == (arguments.count > 1))
        return heddle_cli_usage(&heddle_command_predict,
                                from_data ? "give PNG files or --data with --index, not both"
                                          : "give PNG files, or --index N for an image of a dataset");
    predictor opened = {.settings = &settings, .batch = 1};
    if (from_data)
        opened.batch = settings.count < settings.batch ? settings.count : settings.batch;
    heddle_status status = open_predictor(&opened, arguments.items[0]);
    if (status == HEDDLE_OK && from_data) {
        heddle_dataset *dataset = NULL;
        status = heddle_dataset_open(settings.data ? settings.data : opened.trained_on, settings.folder,
                                     settings.split == 0 ? HEDDLE_TEST : HEDDLE_TRAIN, &dataset);
        if (status == HEDDLE_OK)
            status = predict_dataset(&opened, dataset);
        heddle_dataset_close(dataset);
    }
    if (status == HEDDLE_OK && settings.data && !settings.json.print && strcmp(settings.data, opened.trained_on) != 0)
        printf("trained on %s\n", opened.trained_on); // so that nobody wonders at the answers
    // One bad file does not keep the others from being looked at.
    exit_code = status == HEDDLE_OK ? HEDDLE_EXIT_OK : heddle_cli_fail(status);
    for (int i = 1; i < arguments.count && status == HEDDLE_OK; i++) {
        heddle_status file_status = predict_file(&opened, arguments.items[i]);
        if (file_status != HEDDLE_OK)
            exit_code = heddle_cli_fail(file_status);
    }
    if (status == HEDDLE_OK) {
        const int written = heddle_cli_json_exit(&settings.json, to_json(&opened));
        exit_code = exit_code != HEDDLE_EXIT_OK ? exit_code : written;
    }
    close_predictor(&opened);
    return exit_code;
}

const heddle_cli_command heddle_command_predict = {
    .name = "predict",
    .summary = "say what is on an image",
    .arguments = "CHECKPOINT [FILE.png...]",
    .least_arguments = 1,
    .most_arguments = MOST_IMAGES,
    .description = "CHECKPOINT is a file, or the folder of a run, whose best.safetensors is taken. PNG files may have "
                   "any size and be dark on light or light on dark; each is brought to what the "
                   "network was trained on, and a line says how.",
    .example = "heddle predict runs/mnist-cnn/best.safetensors seven.png\n"
               "heddle predict runs/fashion-cnn/best.safetensors --data fashion --index 0 --count 5",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = heddle_cli_predict,
};
