// One step through state, feed and plan, as trainer.c puts them together, and what it left in the bank of gradients.

#include "nn/gradients.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/safetensors.h"
#include "nn/feed.h"
#include "nn/optimizer.h"
#include "nn/plan.h"

enum { NAME_SIZE = HEDDLE_PARAMETER_NAME + 16, FIXED_ARRAYS = 3 }; // images, labels, loss

// Everything the step needs and leaves, so that one function lets all of it go.
typedef struct trial {
    heddle_device *device;
    const heddle_model *model;
    const heddle_dataset *dataset;
    const heddle_train_options *options;
    int batch;
    size_t pixels; // of an image
    heddle_stream *stream;
    heddle_state *state;
    heddle_feed *feed; // NULL on cpu
    heddle_plan *plan;
    // On the host: the batch, and the banks from before and after the step.
    uint32_t *order;
    uint8_t *bytes;
    float *images;
    int32_t *labels;
    float *parameters, *gradients;
    float hyper[HEDDLE_HYPER_COUNT];
    float loss;
} trial;

static void release(trial *one)
{
    if (one->stream)
        (void)heddle_stream_synchronize(one->stream);
    heddle_plan_destroy(one->plan);
    heddle_feed_destroy(one->feed);
    heddle_state_destroy(one->state);
    if (one->stream)
        heddle_stream_destroy(one->stream);
    free(one->order);
    free(one->bytes);
    free(one->images);
    free(one->labels);
    free(one->parameters);
    free(one->gradients);
}

// The first batch of the first epoch, in the order that training has.
static heddle_status take_batch(trial *one)
{
    const heddle_dataset *dataset = one->dataset;
    size_t batch = (size_t)one->batch, floats = one->state->floats[HEDDLE_BANK_PARAMETERS];
    one->order = calloc((size_t)dataset->count, sizeof *one->order);
    one->bytes = calloc(batch, one->pixels);
    one->images = calloc(batch * one->pixels, sizeof *one->images);
    one->labels = calloc(batch, sizeof *one->labels);
    one->parameters = calloc(floats, sizeof *one->parameters);
    one->gradients = calloc(floats, sizeof *one->gradients);
    if (!one->order || !one->bytes || !one->images || !one->labels || !one->parameters || !one->gradients)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a batch of %d", one->batch);
    heddle_epoch_order(one->options->seed, 0, one->order, dataset->count);
    for (size_t i = 0; i < batch; i++) {
        memcpy(one->bytes + i * one->pixels, dataset->images + one->order[i] * one->pixels, one->pixels);
        one->labels[i] = dataset->labels[one->order[i]];
    }
    for (size_t i = 0; i < batch * one->pixels; i++)
        one->images[i] = (float)one->bytes[i] / 255.0F;
    return HEDDLE_OK;
}

static heddle_status make_plan(trial *one)
{
    const heddle_train_options *options = one->options;
    heddle_feed_options feed = {.batch = one->batch, .training = true, .seed = options->seed};
    if (heddle_device_get_kind(one->device) != HEDDLE_CPU)
        HEDDLE_TRY(heddle_feed_create(one->dataset, one->stream, &feed, &one->feed));
    heddle_plan_options how = {
        .batch = one->batch,
        .training = true,
        .kernels = options->kernels,
        .arithmetic = options->arithmetic,
        .deterministic = options->deterministic,
        .optimizer = options->optimizer,
        .feed = one->feed,
        .keep_gradients = true,
    };
    HEDDLE_TRY(heddle_plan_create(one->state, one->stream, &how, &one->plan));
    return one->plan->lowering.dropouts ? heddle_fail(HEDDLE_UNSUPPORTED, "gradients of a model with dropout")
                                        : HEDDLE_OK;
}

static heddle_status upload_batch(trial *one)
{
    heddle_position start = heddle_position_start();
    if (one->feed)
        return heddle_feed_begin(one->feed, one->stream, one->options, &start, 1, one->state->hyper);
    heddle_hyper_fill(one->options, 0, 0, 1, one->hyper);
    size_t batch = (size_t)one->batch;
    HEDDLE_TRY(heddle_copy(one->stream, one->state->hyper, one->hyper, sizeof one->hyper));
    HEDDLE_TRY(heddle_copy(one->stream, one->plan->images, one->images, batch * one->pixels * sizeof(float)));
    return heddle_copy(one->stream, one->plan->labels, one->labels, batch * sizeof(int32_t));
}

static heddle_status take_step(trial *one)
{
    HEDDLE_TRY(heddle_stream_create(one->device, 0, &one->stream));
    HEDDLE_TRY(heddle_state_create(one->device, one->model, true, one->options->optimizer, &one->state));
    HEDDLE_TRY(heddle_state_start(one->state, one->stream, one->options->seed));
    HEDDLE_TRY(take_batch(one));
    HEDDLE_TRY(heddle_state_read(one->state, one->stream, HEDDLE_BANK_PARAMETERS, one->parameters));
    HEDDLE_TRY(make_plan(one));
    HEDDLE_TRY(upload_batch(one));
    HEDDLE_TRY(heddle_plan_run(one->plan, one->stream));
    HEDDLE_TRY(heddle_copy(one->stream, &one->loss, one->plan->loss, sizeof one->loss));
    return heddle_state_read(one->state, one->stream, HEDDLE_BANK_GRADIENTS, one->gradients);
}

// Two arrays for parameter `index`: before the step, and its gradient. `names` has room for both.
static void add_parameter(const trial *one, int index, char names[2][NAME_SIZE], heddle_array arrays[2])
{
    const heddle_parameter_spec *spec = &one->model->parameters[index];
    size_t offset = one->state->offset[index];
    const float *values[2] = {one->parameters + offset, one->gradients + offset};
    static const char *const groups[2] = {"parameters", "gradients"};
    for (int i = 0; i < 2; i++) {
        snprintf(names[i], NAME_SIZE, "%s/%s", groups[i], spec->name);
        arrays[i] = (heddle_array){.name = names[i], .dtype = HEDDLE_F32, .rank = spec->rank, .data = values[i]};
        for (int j = 0; j < spec->rank; j++)
            arrays[i].dims[j] = spec->dims[j];
        arrays[i].bytes = heddle_state_elements(one->state, index) * sizeof(float);
    }
}

static heddle_status write_file(const trial *one, const char *path)
{
    const heddle_input_shape *input = &one->model->input;
    int room = FIXED_ARRAYS + 2 * one->model->parameter_count, count = FIXED_ARRAYS;
    heddle_array *arrays = calloc((size_t)room, sizeof *arrays);
    char(*names)[NAME_SIZE] = calloc((size_t)room, sizeof *names);
    if (!arrays || !names) {
        free(arrays);
        free(names);
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for %d arrays", room);
    }
    size_t batch = (size_t)one->batch;
    arrays[0] =
        (heddle_array){"images",   HEDDLE_U8,          4, {one->batch, input->channels, input->height, input->width},
                       one->bytes, batch * one->pixels};
    arrays[1] = (heddle_array){"labels", HEDDLE_I32, 1, {one->batch}, one->labels, batch * sizeof(int32_t)};
    arrays[2] = (heddle_array){"loss", HEDDLE_F32, 1, {1}, &one->loss, sizeof one->loss};
    for (int i = 0; i < one->model->parameter_count; i++)
        if (one->model->parameters[i].trained) {
            add_parameter(one, i, names + count, arrays + count);
            count += 2;
        }
    heddle_text_pair metadata[] = {{"arithmetic", heddle_arithmetic_names[one->options->arithmetic]},
                                   {"kernels", heddle_tier_names[one->options->kernels]}};
    heddle_status status = heddle_safetensors_write(path, arrays, count, metadata, 2);
    free(arrays);
    free(names);
    return status;
}

heddle_status heddle_train_gradients(heddle_device *device, const heddle_model *model, const heddle_dataset *dataset,
                                     const heddle_train_options *options, const char *path)
{
    HEDDLE_TRY(heddle_train_options_check(options));
    if (options->batch > dataset->count)
        return heddle_fail(HEDDLE_INVALID, "a batch of %d from %d images", options->batch, dataset->count);
    size_t pixels = (size_t)dataset->channels * (size_t)dataset->height * (size_t)dataset->width;
    trial one = {.device = device,
                 .model = model,
                 .dataset = dataset,
                 .options = options,
                 .batch = options->batch,
                 .pixels = pixels};
    heddle_status status = take_step(&one);
    if (status == HEDDLE_OK)
        status = write_file(&one, path);
    release(&one);
    return status;
}
