// `heddle predict`: classifies PNG and JPEG files, or images of a dataset.

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/network.h"
#include "data/prepare.h"
#include "io/image_file.h"
#include "nn/network.h"

enum {
    NAME_SIZE = 1024,
    SAID_SIZE = 256,
    SHOWN_CLASSES = 3, // predictions per line
    MOST_IMAGES = 100000,
};

typedef struct predict_settings {
    heddle_cli_network_settings network;
    int index, count;
} predict_settings;

#define PLACE(field) offsetof(predict_settings, field)

static const heddle_cli_option options[] = {
    {"data", HEDDLE_CLI_TEXT, PLACE(network.data), "NAME|DIR", NULL,
     "classify images of this dataset instead of files; default with --index or --count: the dataset that the "
     "network was trained on",
     0, 0, NULL},
    {"index", HEDDLE_CLI_INT, PLACE(index), "N", "0",
     "index of the first image to classify; the dataset's first image is 0", 0, 2e9, NULL},
    {"count", HEDDLE_CLI_INT, PLACE(count), "N", "1", "number of images to classify", 1, MOST_IMAGES, NULL},
    HEDDLE_CLI_NETWORK_OPTIONS(predict_settings),
};

typedef struct predictor {
    const predict_settings *settings;
    heddle_cli_network trained;
    int batch;            // images at a time
    size_t pixels;        // of one
    float *image;         // of a file, (channels, height, width)
    float *probabilities; // (batch, classes)
    int predicted, labelled, correct;
} predictor;

static heddle_status open_predictor(predictor *opened, const char *given)
{
    const heddle_input_shape *input = &opened->trained.input;
    HEDDLE_TRY(heddle_cli_network_open(&opened->settings->network, given, opened->batch, &opened->trained));
    opened->pixels = (size_t)input->channels * (size_t)input->height * (size_t)input->width;
    opened->image = calloc(opened->pixels, sizeof(float));
    opened->probabilities = calloc((size_t)opened->batch * (size_t)input->classes, sizeof(float));
    return opened->image && opened->probabilities
               ? HEDDLE_OK
               : heddle_fail(HEDDLE_OUT_OF_MEMORY, "not enough memory for %d images", opened->batch);
}

static void close_predictor(predictor *opened)
{
    free(opened->image);
    free(opened->probabilities);
    heddle_cli_network_close(&opened->trained);
}

// The most likely class that is not among the `count` in `taken`.
static int next_best(const predictor *opened, const float *probabilities, const int *taken, int count)
{
    int best = -1;
    for (int i = 0; i < opened->trained.input.classes; i++) {
        bool used = false;
        for (int j = 0; j < count; j++)
            used |= taken[j] == i;
        if (!used && (best < 0 || probabilities[i] > probabilities[best]))
            best = i;
    }
    return best;
}

// label < 0: unknown
static void print_line(const predictor *opened, const float *probabilities, const char *name, const char *said,
                       int label)
{
    int guesses[SHOWN_CLASSES] = {0}, count = 0;
    while (count < SHOWN_CLASSES && count < opened->trained.input.classes) {
        guesses[count] = next_best(opened, probabilities, guesses, count);
        count++;
    }
    printf("%s: ", name);
    for (int i = 0; i < count; i++)
        printf("%s%s (%.1f %%)",
               i == 0   ? ""
               : i == 1 ? "; next: "
                        : ", ",
               heddle_network_class_name(opened->trained.network, guesses[i]),
               100.0 * (double)probabilities[guesses[i]]);
    if (label >= 0 && guesses[0] == label)
        printf("; correct");
    else if (label >= 0)
        printf("; wrong, the label is %s", heddle_network_class_name(opened->trained.network, label));
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
    cJSON_AddStringToObject(json, "name", heddle_network_class_name(opened->trained.network, best));
    cJSON *all = cJSON_AddArrayToObject(json, "probabilities");
    for (int i = 0; i < opened->trained.input.classes; i++)
        cJSON_AddItemToArray(all, cJSON_CreateNumber((double)probabilities[i]));
    if (label >= 0)
        cJSON_AddNumberToObject(json, "label", label);
    if (said[0])
        cJSON_AddStringToObject(json, "prepared", said);
    heddle_cli_json_event(&opened->settings->network.json, "prediction", json);
}

// Image `index` of the batch that was predicted.
static void print_image(predictor *opened, int index, const char *name, const char *said, int label)
{
    const float *probabilities = opened->probabilities + (size_t)index * (size_t)opened->trained.input.classes;
    opened->predicted++;
    opened->labelled += label >= 0;
    opened->correct += label >= 0 && next_best(opened, probabilities, NULL, 0) == label;
    if (opened->settings->network.json.print)
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
    cJSON_AddStringToObject(json, "trained_on", opened->trained.trained_on);
    heddle_cli_device_add(&opened->trained.device, json);
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
    if (opened->trained.input.channels != 1 && opened->trained.input.channels != 3)
        return heddle_fail(HEDDLE_UNSUPPORTED, "the network takes %d channels; PNG and JPEG files have 1 or 3",
                           opened->trained.input.channels);
    heddle_picture picture = {0};
    HEDDLE_TRY(heddle_image_file_read(path, opened->trained.input.channels, &picture));
    if (is_of_one_colour(&picture, opened->trained.input.channels))
        heddle_log(HEDDLE_LOG_WARN, "%s has only one colour: the answer means nothing", path);
    heddle_prepare_options prepare = {
        .channels = opened->trained.input.channels,
        .height = opened->trained.input.height,
        .width = opened->trained.input.width,
        .traits = heddle_network_traits(opened->trained.network),
    };
    char said[SAID_SIZE];
    heddle_status status =
        heddle_prepare(picture.pixels, picture.height, picture.width, &prepare, opened->image, said, sizeof said);
    heddle_picture_free(&picture);
    HEDDLE_TRY(status);
    HEDDLE_TRY(heddle_network_predict(opened->trained.network, opened->image, 1, opened->probabilities));
    print_image(opened, 0, path, said, -1);
    fflush(stdout); // results are kept if the command is interrupted
    return HEDDLE_OK;
}

static int exit_of(heddle_status status)
{
    return status == HEDDLE_OK ? HEDDLE_EXIT_OK : heddle_cli_fail(status);
}

static int is_image(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && heddle_image_file_is_named(entry->d_name);
}

// Predicts a file, or the images of a folder, by name. One bad file does not stop the others. Returns the exit code.
static int predict_argument(predictor *opened, const char *path)
{
    struct dirent **names = NULL;
    char quoted[NAME_SIZE], file[NAME_SIZE];
    int exit_code = HEDDLE_EXIT_OK;
    if (!heddle_folder_exists(path))
        return exit_of(predict_file(opened, path));
    const int count = scandir(path, &names, is_image, alphasort);
    if (count < 0)
        return heddle_cli_fail(heddle_fail(HEDDLE_IO, "%s: %s", path, strerror(errno)));
    if (count == 0)
        exit_code = heddle_cli_fail(
            heddle_fail(HEDDLE_NOT_FOUND,
                        "%s has no PNG or JPEG files; for a folder with one subfolder per class, use heddle eval "
                        "CHECKPOINT --data %s",
                        path, heddle_text_quote(path, quoted, sizeof quoted)));
    for (int i = 0; i < count; i++) {
        const bool whole = snprintf(file, sizeof file, "%s/%s", path, names[i]->d_name) < NAME_SIZE;
        const int code =
            exit_of(whole ? predict_file(opened, file) : heddle_fail(HEDDLE_INVALID, "%.40s...: path too long", path));
        exit_code = code != HEDDLE_EXIT_OK ? code : exit_code;
        free(names[i]);
    }
    free(names);
    return exit_code;
}

static heddle_status predict_dataset(predictor *opened, const heddle_dataset *dataset)
{
    const predict_settings *settings = opened->settings;
    if (settings->index > dataset->count - settings->count)
        return heddle_fail(HEDDLE_INVALID, "%s has %d images in its %s part; images %d to %d were requested",
                           dataset->name, dataset->count, heddle_cli_splits[settings->network.split], settings->index,
                           settings->index + settings->count - 1);
    for (int done = 0; done < settings->count; done += opened->batch) {
        int first = settings->index + done;
        int count = settings->count - done < opened->batch ? settings->count - done : opened->batch;
        HEDDLE_TRY(heddle_network_predict_bytes(
            opened->trained.network, dataset->images + (size_t)first * opened->pixels, count, opened->probabilities));
        for (int i = 0; i < count; i++) {
            char name[NAME_SIZE];
            snprintf(name, sizeof name, "%s %s image %d", dataset->name, heddle_cli_splits[settings->network.split],
                     first + i);
            print_image(opened, i, name, "", dataset->labels[first + i]);
        }
        fflush(stdout); // results are kept if the command is interrupted
    }
    return HEDDLE_OK;
}

// Which kinds of images the command line names.
static heddle_status check_images(const predict_settings *settings, const heddle_cli_arguments *arguments,
                                  bool from_data)
{
    const bool calibrates = settings->network.data && settings->network.precision == HEDDLE_INT8;
    if (from_data && arguments->count > 1)
        return heddle_fail(HEDDLE_INVALID, "give image files or --data with --index, not both%s",
                           calibrates ? "; --calibrate-with names the dataset to calibrate int8 with" : "");
    if (!from_data && arguments->count == 1)
        return heddle_fail(HEDDLE_INVALID, "give PNG or JPEG files, or --index N for an image of a dataset");
    return HEDDLE_OK;
}

// A misspelt name is found before the predictions, which may be many.
static heddle_status check_names(const heddle_cli_arguments *arguments)
{
    for (int i = 1; i < arguments->count; i++)
        if (access(arguments->items[i], F_OK) != 0)
            return heddle_fail(errno == ENOENT ? HEDDLE_NOT_FOUND : HEDDLE_IO, "%s: %s", arguments->items[i],
                               strerror(errno));
    return HEDDLE_OK;
}

static int run_command(int argc, char **argv)
{
    predict_settings settings = {0};
    heddle_cli_arguments arguments;
    int exit_code;
    char quoted[NAME_SIZE];
    if (!heddle_cli_parse(&heddle_command_predict, argc, argv, &settings, &arguments, &exit_code))
        return exit_code;
    if (heddle_image_file_is_named(arguments.items[0]))
        return heddle_cli_usage(&heddle_command_predict, "the checkpoint comes first: heddle predict CHECKPOINT %s",
                                heddle_text_quote(arguments.items[0], quoted, sizeof quoted));
    bool from_data = settings.network.data || heddle_cli_given(&heddle_command_predict, &arguments, "index") ||
                     heddle_cli_given(&heddle_command_predict, &arguments, "count");
    if (check_images(&settings, &arguments, from_data) != HEDDLE_OK)
        return heddle_cli_usage(&heddle_command_predict, "%s", heddle_last_error());
    predictor opened = {.settings = &settings, .batch = 1};
    if (from_data)
        opened.batch = settings.count < settings.network.batch ? settings.count : settings.network.batch;
    heddle_status status = open_predictor(&opened, arguments.items[0]);
    if (status == HEDDLE_OK)
        status = check_names(&arguments);
    if (status == HEDDLE_OK && from_data) {
        heddle_dataset *dataset = NULL;
        status = heddle_cli_network_dataset(&opened.trained, &settings.network, &dataset);
        if (status == HEDDLE_OK)
            status = predict_dataset(&opened, dataset);
        heddle_dataset_close(dataset);
    }
    if (status == HEDDLE_OK && !settings.network.json.print)
        heddle_cli_network_print_origin(&opened.trained, &settings.network);
    exit_code = exit_of(status);
    for (int i = 1; i < arguments.count && status == HEDDLE_OK; i++) {
        const int code = predict_argument(&opened, arguments.items[i]);
        exit_code = code != HEDDLE_EXIT_OK ? code : exit_code;
    }
    if (status == HEDDLE_OK) {
        const int written = heddle_cli_json_exit(&settings.network.json, to_json(&opened));
        exit_code = exit_code != HEDDLE_EXIT_OK ? exit_code : written;
    }
    close_predictor(&opened);
    return exit_code;
}

const heddle_cli_command heddle_command_predict = {
    .name = "predict",
    .summary = "classify images",
    .arguments = "CHECKPOINT [FILE|DIR...]",
    .least_arguments = 1,
    .most_arguments = MOST_IMAGES,
    .description =
        "CHECKPOINT is a checkpoint file, or the folder of a run with best.safetensors. PNG and JPEG files may have "
        "any size, and may be dark on light or light on dark. The command converts each file to the size and the "
        "background that the network was trained on, and says what it changed. Of a folder, all its PNG and JPEG files "
        "are classified.",
    .example = "heddle predict runs/mnist-cnn/best.safetensors seven.png\n"
               "heddle predict runs/fashion-cnn/best.safetensors --data fashion --index 0 --count 5",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run_command,
};
