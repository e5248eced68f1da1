// What heddle computes of a test set, for scripts/onnx-check to compare with: writes images.f32 (count, channels,
// height, width), labels.u8 and logits.f32 (count, classes) to a folder and, where the network has an int8 one,
// int8.f32 with its probabilities. Plain little-endian numbers.
//
//     onnx_logits CHECKPOINT DATASET FOLDER [IMAGES]
//
// IMAGES calibrate int8; 0, the default, leaves int8 out.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "heddle/heddle.h"
#include "nn/activations.h"

enum { PATH = 4096, INT8_BATCH = 64 };

typedef struct job {
    const char *checkpoint, *folder;
    heddle_device *device;
    heddle_dataset *train, *test;
    size_t pixels, classes;
    float *images, *logits;
    int calibrate;
} job;

static heddle_status write_numbers(const job *of, const char *name, const void *data, size_t bytes)
{
    char path[PATH];
    snprintf(path, sizeof path, "%s/%s", of->folder, name);
    const heddle_slice slice = {data, bytes};
    return heddle_file_write_atomic(path, &slice, 1);
}

static heddle_status compute(const job *of)
{
    heddle_network *network = NULL;
    heddle_activations *activations = NULL;
    heddle_status status = heddle_network_open(of->device, of->checkpoint, 1, HEDDLE_TUNED, &network);
    if (status == HEDDLE_OK)
        status = heddle_activations_create(network, &activations);
    for (int i = 0; i < of->test->count && status == HEDDLE_OK; i++) {
        status = heddle_activations_run(activations, of->images + (size_t)i * of->pixels);
        const int last = heddle_activations_count(activations) - 1;
        memcpy(of->logits + (size_t)i * of->classes, heddle_activations_layer(activations, last).values,
               of->classes * sizeof *of->logits);
    }
    heddle_activations_destroy(activations);
    heddle_network_close(network);
    return status;
}

static heddle_status compute_int8(const job *of, bool *quantised)
{
    const heddle_network_options options = {.batch = INT8_BATCH, .kernels = HEDDLE_FUSED, .arithmetic = HEDDLE_INT8};
    heddle_network *network = NULL;
    heddle_status status = heddle_network_open_with(of->device, of->checkpoint, &options, &network);
    if (status == HEDDLE_OK)
        status = heddle_network_calibrate(network, of->train, of->calibrate, quantised);
    if (status == HEDDLE_OK)
        status = heddle_network_predict_bytes(network, of->test->images, of->test->count, of->logits);
    heddle_network_close(network);
    return status;
}

static heddle_status run(job *of, const char *dataset)
{
    HEDDLE_TRY(heddle_device_open("cpu", 0, &of->device));
    HEDDLE_TRY(heddle_dataset_open(dataset, NULL, HEDDLE_TRAIN, &of->train));
    HEDDLE_TRY(heddle_dataset_open(dataset, NULL, HEDDLE_TEST, &of->test));
    heddle_model *model = NULL;
    HEDDLE_TRY(heddle_model_from(of->checkpoint, &model));
    const size_t count = (size_t)of->test->count;
    of->pixels = (size_t)of->test->channels * (size_t)of->test->height * (size_t)of->test->width;
    of->classes = (size_t)heddle_model_input(model).classes;
    heddle_model_close(model);
    of->images = calloc(count * of->pixels + 1, sizeof *of->images);
    of->logits = calloc(count * of->classes + 1, sizeof *of->logits);
    if (!of->images || !of->logits)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for %zu images", count);
    for (size_t i = 0; i < count * of->pixels; i++)
        of->images[i] = (float)of->test->images[i] / 255.0F;
    HEDDLE_TRY(compute(of));
    HEDDLE_TRY(write_numbers(of, "images.f32", of->images, count * of->pixels * sizeof(float)));
    HEDDLE_TRY(write_numbers(of, "labels.u8", of->test->labels, count));
    HEDDLE_TRY(write_numbers(of, "logits.f32", of->logits, count * of->classes * sizeof(float)));
    bool quantised = false;
    if (of->calibrate > 0)
        HEDDLE_TRY(compute_int8(of, &quantised));
    return quantised ? write_numbers(of, "int8.f32", of->logits, count * of->classes * sizeof(float)) : HEDDLE_OK;
}

int main(int argc, char **argv)
{
    if (argc != 4 && argc != 5) {
        fprintf(stderr, "usage: onnx_logits CHECKPOINT DATASET FOLDER [IMAGES]\n");
        return 2;
    }
    job of = {.checkpoint = argv[1], .folder = argv[3], .calibrate = argc == 5 ? (int)strtol(argv[4], NULL, 10) : 0};
    const heddle_status status = run(&of, argv[2]);
    if (status != HEDDLE_OK)
        fprintf(stderr, "onnx_logits: %s\n", heddle_last_error());
    free(of.images);
    free(of.logits);
    heddle_dataset_close(of.train);
    heddle_dataset_close(of.test);
    heddle_device_close(of.device);
    return status == HEDDLE_OK ? 0 : 1;
}
