// Opens a checkpoint in the batch sizes that requests come in, and describes it for the page.

#include "serve/network.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "serve/images.h"

enum { NAME_SIZE = 1024, MOST_MAPS = 16, MOST_SIDE = 64, MESSAGE_SIZE = 1024 };

static const int batches[] = {1, 2, 4, 8, 16, 32, HEDDLE_SERVE_BATCH};
enum { BATCHES = sizeof batches / sizeof *batches };

struct heddle_serve_network {
    heddle_device *device;
    char *checkpoint;
    char trained_on[NAME_SIZE];
    heddle_network *opened[BATCHES]; // NULL: not needed yet
    heddle_activations *activations; // of the first; NULL: not needed yet
    heddle_input_shape input;
    float *padded;  // a whole batch
    float *results; // of it
    heddle_dataset *test;
    char problem[MESSAGE_SIZE]; // why there is no test set
};

// --- opening ---------------------------------------------------------------------------------------------------------

static heddle_status open_batch(heddle_serve_network *network, int index)
{
    const heddle_network_options how = {.batch = batches[index], .kernels = HEDDLE_FUSED, .deterministic = true};
    if (network->opened[index])
        return HEDDLE_OK;
    return heddle_network_open_with(network->device, network->checkpoint, &how, &network->opened[index]);
}

static void open_test(heddle_serve_network *network, const char *folder)
{
    const int classes = network->input.classes;
    char **names = calloc((size_t)classes + 1, sizeof *names);
    bool named = names != NULL;
    for (int i = 0; i < classes && named; i++)
        named = (names[i] = strdup(heddle_network_class_name(network->opened[0], i))) != NULL;
    const heddle_dataset_options how = {.folder = folder,
                                        .channels = network->input.channels,
                                        .height = network->input.height,
                                        .width = network->input.width,
                                        .class_names = (const char *const *)names,
                                        .classes = classes};
    heddle_status status = named ? heddle_dataset_open_with(network->trained_on, HEDDLE_TEST, &how, &network->test)
                                 : heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the names of classes");
    const heddle_dataset *test = network->test;
    if (status == HEDDLE_OK && (test->channels != how.channels || test->height != how.height ||
                                test->width != how.width || test->classes > classes))
        status = heddle_fail(HEDDLE_INVALID, "dataset %s has images or classes that the network does not take",
                             network->trained_on);
    if (status != HEDDLE_OK) {
        snprintf(network->problem, sizeof network->problem, "%s", heddle_last_error());
        heddle_dataset_close(network->test);
        network->test = NULL;
    }
    for (int i = 0; names && i < classes; i++)
        free(names[i]);
    free(names);
}

static heddle_status open_all(heddle_serve_network *network, const char *checkpoint, const char *folder)
{
    heddle_train_options trained;
    network->checkpoint = strdup(checkpoint);
    if (!network->checkpoint)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a network");
    HEDDLE_TRY(heddle_train_options_from(checkpoint, &trained, network->trained_on, sizeof network->trained_on));
    HEDDLE_TRY(open_batch(network, 0));
    network->input = heddle_model_input(heddle_network_model(network->opened[0]));
    const size_t pixels =
        (size_t)network->input.channels * (size_t)network->input.height * (size_t)network->input.width;
    network->padded = calloc(HEDDLE_SERVE_BATCH * pixels, sizeof *network->padded);
    network->results = calloc(HEDDLE_SERVE_BATCH * (size_t)network->input.classes, sizeof *network->results);
    if (!network->padded || !network->results)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a batch of images");
    HEDDLE_TRY(heddle_network_predict(network->opened[0], network->padded, 1, network->results)); // makes its plan
    open_test(network, folder);
    return HEDDLE_OK;
}

heddle_status heddle_serve_network_open(heddle_device *device, const char *checkpoint, const char *folder,
                                        heddle_serve_network **network)
{
    heddle_serve_network *made = calloc(1, sizeof *made);
    *network = NULL;
    if (!made)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a network");
    made->device = device;
    heddle_status status = open_all(made, checkpoint, folder);
    if (status == HEDDLE_OK)
        *network = made;
    else
        heddle_serve_network_close(made);
    return status;
}

void heddle_serve_network_close(heddle_serve_network *network)
{
    if (!network)
        return;
    heddle_activations_destroy(network->activations);
    for (int i = 0; i < BATCHES; i++)
        heddle_network_close(network->opened[i]);
    heddle_dataset_close(network->test);
    free(network->padded);
    free(network->results);
    free(network->checkpoint);
    free(network);
}

// --- looking at it ---------------------------------------------------------------------------------------------------

heddle_prepare_options heddle_serve_network_input(const heddle_serve_network *network)
{
    return (heddle_prepare_options){.channels = network->input.channels,
                                    .height = network->input.height,
                                    .width = network->input.width,
                                    .traits = heddle_network_traits(network->opened[0])};
}

int heddle_serve_network_classes(const heddle_serve_network *network)
{
    return network->input.classes;
}

const char *heddle_serve_network_class(const heddle_serve_network *network, int index)
{
    return heddle_network_class_name(network->opened[0], index);
}

const heddle_dataset *heddle_serve_network_test(const heddle_serve_network *network)
{
    return network->test;
}

static void add_layers(const heddle_serve_network *network, cJSON *json)
{
    const heddle_model *model = heddle_network_model(network->opened[0]);
    cJSON *list = cJSON_AddArrayToObject(json, "layers");
    for (int i = 0; i < heddle_model_layers(model); i++) {
        heddle_layer_info info;
        if (heddle_model_layer(model, i, &info) != HEDDLE_OK)
            continue;
        cJSON *layer = cJSON_CreateObject();
        cJSON_AddStringToObject(layer, "name", info.name);
        cJSON_AddStringToObject(layer, "type", info.type);
        cJSON_AddStringToObject(layer, "details", info.details);
        cJSON_AddItemToObject(layer, "shape", cJSON_CreateIntArray(info.dims, info.rank));
        cJSON_AddNumberToObject(layer, "parameters", (double)info.parameters);
        cJSON_AddItemToArray(list, layer);
    }
}

cJSON *heddle_serve_network_about(const heddle_serve_network *network)
{
    const heddle_model *model = heddle_network_model(network->opened[0]);
    const int shape[] = {network->input.channels, network->input.height, network->input.width};
    heddle_device_info device = {0};
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "model", heddle_model_name(model));
    cJSON_AddStringToObject(json, "checkpoint", network->checkpoint);
    cJSON_AddStringToObject(json, "data", network->trained_on);
    cJSON_AddItemToObject(json, "input", cJSON_CreateIntArray(shape, 3));
    cJSON_AddNumberToObject(json, "parameters", (double)heddle_model_parameters(model));
    cJSON *classes = cJSON_AddArrayToObject(json, "classes");
    for (int i = 0; i < network->input.classes; i++)
        cJSON_AddItemToArray(classes, cJSON_CreateString(heddle_serve_network_class(network, i)));
    add_layers(network, json);
    if (heddle_device_describe(network->device, &device) == HEDDLE_OK) {
        cJSON_AddStringToObject(json, "device", heddle_device_kind_name(device.kind));
        cJSON_AddStringToObject(json, "device_name", device.name);
    }
    cJSON_AddNumberToObject(json, "test_images", network->test ? network->test->count : 0);
    if (network->problem[0])
        cJSON_AddStringToObject(json, "problem", network->problem);
    return json;
}

// --- using it --------------------------------------------------------------------------------------------------------

// On a GPU a batch takes about as long as a larger one: the smallest that `count` images fit in. On a CPU images that
// nobody asked for cost as much as others: the largest that they fill.
static int batch_for(const heddle_serve_network *network, int count)
{
    const bool fills = heddle_device_get_kind(network->device) == HEDDLE_CPU;
    int index = 0;
    while (index < BATCHES - 1 && (fills ? batches[index + 1] <= count : batches[index] < count))
        index++;
    return index;
}

heddle_status heddle_serve_network_predict(heddle_serve_network *network, const float *images, int count,
                                           float *probabilities)
{
    const size_t classes = (size_t)network->input.classes;
    const size_t pixels =
        (size_t)network->input.channels * (size_t)network->input.height * (size_t)network->input.width;
    heddle_status status = HEDDLE_OK;
    for (int done = 0, part; done < count && status == HEDDLE_OK; done += part) {
        const int left = count - done, index = batch_for(network, left);
        part = left < batches[index] ? left : batches[index];
        status = open_batch(network, index);
        if (status != HEDDLE_OK)
            break;
        memcpy(network->padded, images + (size_t)done * pixels, (size_t)part * pixels * sizeof *images);
        memset(network->padded + (size_t)part * pixels, 0, (size_t)(batches[index] - part) * pixels * sizeof *images);
        status = heddle_network_predict(network->opened[index], network->padded, batches[index], network->results);
        if (status == HEDDLE_OK)
            memcpy(probabilities + (size_t)done * classes, network->results,
                   (size_t)part * classes * sizeof *probabilities);
    }
    return status;
}

heddle_status heddle_serve_probabilities_check(const float *probabilities, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite(probabilities[i]))
            return heddle_fail(HEDDLE_DIVERGED,
                               "the network computes NaN or infinity, not probabilities: its weights are "
                               "unusable; choose another run");
    return HEDDLE_OK;
}

// The first maps of a layer as bytes, 0 for the lowest value of all that are shown and 255 for the highest; every
// second pixel, or fewer, of large ones. NaN and infinity are shown as 0.
static cJSON *layer_json(const heddle_activation *layer)
{
    const bool flat = layer->rank == 1;
    const int maps = flat ? 1 : layer->dims[0] < MOST_MAPS ? layer->dims[0] : MOST_MAPS;
    const int height = flat ? 1 : layer->dims[1], width = flat ? layer->dims[0] : layer->dims[2];
    const int step = flat ? 1 : 1 + ((height > width ? height : width) - 1) / MOST_SIDE;
    const int rows = (height + step - 1) / step, columns = (width + step - 1) / step;
    const size_t count = (size_t)maps * (size_t)height * (size_t)width;
    uint8_t *bytes = malloc((size_t)maps * (size_t)rows * (size_t)columns + 1), *to = bytes;
    float low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < count; i++)
        if (isfinite(layer->values[i])) {
            low = fminf(low, layer->values[i]);
            high = fmaxf(high, layer->values[i]);
        }
    const double span = (double)high - (double)low, scale = span > 0 ? 255 / span : 0; // a float's may be infinite
    for (int map = 0; bytes && map < maps; map++)
        for (int y = 0; y < height; y += step)
            for (int x = 0; x < width; x += step) {
                const float value =
                    layer->values[((size_t)map * (size_t)height + (size_t)y) * (size_t)width + (size_t)x];
                *to++ = isfinite(value) ? (uint8_t)lround(((double)value - (double)low) * scale) : 0;
            }
    char *text = bytes ? heddle_serve_base64_write(bytes, (size_t)(to - bytes)) : NULL;
    free(bytes);
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "name", layer->name);
    cJSON_AddItemToObject(json, "shape", cJSON_CreateIntArray(layer->dims, layer->rank));
    cJSON_AddNumberToObject(json, "maps", maps);
    cJSON_AddNumberToObject(json, "height", rows);
    cJSON_AddNumberToObject(json, "width", columns);
    cJSON_AddNumberToObject(json, "low", (double)low);
    cJSON_AddNumberToObject(json, "high", (double)high);
    cJSON_AddStringToObject(json, "pixels", text ? text : "");
    free(text);
    return json;
}

heddle_status heddle_serve_network_layers(heddle_serve_network *network, const float *image, cJSON **layers)
{
    const int shape[] = {network->input.channels, network->input.height, network->input.width};
    heddle_activation input = {.name = "input", .rank = 3, .values = image};
    *layers = NULL;
    memcpy(input.dims, shape, sizeof shape);
    if (!network->activations)
        HEDDLE_TRY(heddle_activations_create(network->opened[0], &network->activations));
    HEDDLE_TRY(heddle_activations_run(network->activations, image));
    *layers = cJSON_CreateArray();
    cJSON_AddItemToArray(*layers, layer_json(&input));
    for (int i = 0; i < heddle_activations_count(network->activations); i++) {
        const heddle_activation layer = heddle_activations_layer(network->activations, i);
        cJSON_AddItemToArray(*layers, layer_json(&layer));
    }
    return HEDDLE_OK;
}
