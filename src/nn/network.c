// Trained networks in use: prediction and evaluation with plans for a full batch and for the rest.

#include "nn/network.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nn/checkpoint.h"
#include "nn/plan.h"

struct heddle_network {
    heddle_state *state;
    heddle_stream *stream;
    heddle_tier kernels;
    int batch;
    heddle_plan *full;             // for `batch` samples
    heddle_plan *rest;             // for the latest smaller number
    int32_t *no_labels;            // zeros, where nobody knows the answer
    heddle_checkpoint *checkpoint; // NULL: parameters from elsewhere
    heddle_model *model;           // set if the network owns it
    bool owns_state;
};

static heddle_status make(heddle_network *network, int batch, heddle_tier kernels)
{
    network->kernels = kernels;
    network->batch = batch;
    if (batch < 1)
        return heddle_fail(HEDDLE_INVALID, "a batch of %d; it must be at least 1", batch);
    network->no_labels = calloc((size_t)batch, sizeof *network->no_labels);
    return network->no_labels ? HEDDLE_OK : heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a network");
}

heddle_status heddle_network_over(heddle_state *state, heddle_stream *stream, int batch, heddle_tier kernels,
                                  heddle_network **network)
{
    heddle_network *made = calloc(1, sizeof *made);
    if (!made)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a network");
    made->state = state;
    made->stream = stream;
    heddle_status status = make(made, batch, kernels);
    if (status != HEDDLE_OK) {
        heddle_network_close(made);
        return status;
    }
    *network = made;
    return HEDDLE_OK;
}

// State and stream of the network's own, for `model`.
static heddle_status own_state(heddle_network *network, heddle_device *device, const heddle_model *model)
{
    network->owns_state = true;
    HEDDLE_TRY(heddle_stream_create(device, 0, &network->stream));
    return heddle_state_create(device, model, false, HEDDLE_SGD, &network->state);
}

heddle_status heddle_network_open(heddle_device *device, const char *checkpoint, int batch, heddle_tier kernels,
                                  heddle_network **network)
{
    if (!device || !checkpoint || !network)
        return heddle_fail(HEDDLE_INVALID, "heddle_network_open needs a device, a checkpoint and a place");
    heddle_network *made = calloc(1, sizeof *made);
    if (!made)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a network");
    heddle_status status = make(made, batch, kernels);
    if (status == HEDDLE_OK)
        status = heddle_checkpoint_open(checkpoint, &made->checkpoint);
    if (status == HEDDLE_OK)
        status = own_state(made, device, heddle_checkpoint_model(made->checkpoint));
    if (status == HEDDLE_OK)
        status = heddle_checkpoint_load(made->checkpoint, made->state, made->stream);
    if (status != HEDDLE_OK) {
        heddle_network_close(made);
        return status;
    }
    *network = made;
    return HEDDLE_OK;
}

heddle_status heddle_network_create(heddle_device *device, const heddle_model *model, uint64_t seed, int batch,
                                    heddle_tier kernels, heddle_network **network)
{
    if (!device || !model || !network)
        return heddle_fail(HEDDLE_INVALID, "heddle_network_create needs a device, a model and a place");
    heddle_network *made = calloc(1, sizeof *made);
    if (!made)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a network");
    heddle_status status = make(made, batch, kernels);
    if (status == HEDDLE_OK) // a copy, so that the caller may close theirs
        status = heddle_model_parse(model->name, model->json, NULL, &made->model);
    if (status == HEDDLE_OK)
        status = own_state(made, device, made->model);
    if (status == HEDDLE_OK)
        status = heddle_state_start(made->state, made->stream, seed);
    if (status != HEDDLE_OK) {
        heddle_network_close(made);
        return status;
    }
    *network = made;
    return HEDDLE_OK;
}

void heddle_network_close(heddle_network *network)
{
    if (!network)
        return;
    if (network->stream)
        (void)heddle_stream_synchronize(network->stream);
    heddle_plan_destroy(network->full);
    heddle_plan_destroy(network->rest);
    if (network->owns_state) {
        heddle_state_destroy(network->state);
        if (network->stream)
            heddle_stream_destroy(network->stream);
    }
    heddle_checkpoint_close(network->checkpoint);
    heddle_model_close(network->model);
    free(network->no_labels);
    free(network);
}

const heddle_model *heddle_network_model(const heddle_network *network)
{
    return network->state->model;
}

const char *heddle_network_class_name(const heddle_network *network, int index)
{
    const heddle_checkpoint_about *about = network->checkpoint ? heddle_checkpoint_about_of(network->checkpoint) : NULL;
    if (about && about->class_names && index >= 0 && index < about->classes)
        return about->class_names[index];
    static _Thread_local char number[16];
    snprintf(number, sizeof number, "%d", index);
    return number;
}

double heddle_network_border(const heddle_network *network)
{
    return network->checkpoint ? heddle_checkpoint_about_of(network->checkpoint)->border : 0;
}

// The plan for `count` samples; made at the first need and kept.
static heddle_status plan_for(heddle_network *network, int count, heddle_plan **plan)
{
    heddle_plan **place = count == network->batch ? &network->full : &network->rest;
    if (*place && (*place)->options.batch != count) {
        heddle_plan_destroy(*place);
        *place = NULL;
    }
    if (!*place) {
        heddle_plan_options options = {.batch = count, .kernels = network->kernels};
        HEDDLE_TRY(heddle_plan_create(network->state, network->stream, &options, place));
    }
    *plan = *place;
    return HEDDLE_OK;
}

// Runs one batch and copies out what the caller wants.
static heddle_status run_batch(heddle_network *network, const float *images, const int32_t *labels, int count,
                               float *probabilities, float *loss, int32_t *correct)
{
    const heddle_input_shape *input = &network->state->model->input;
    size_t pixels = (size_t)input->channels * (size_t)input->height * (size_t)input->width;
    heddle_plan *plan;
    HEDDLE_TRY(plan_for(network, count, &plan));
    HEDDLE_TRY(heddle_copy(network->stream, plan->images, images, (size_t)count * pixels * sizeof(float)));
    HEDDLE_TRY(heddle_copy(network->stream, plan->labels, labels, (size_t)count * sizeof *labels));
    HEDDLE_TRY(heddle_plan_run(plan, network->stream));
    if (probabilities)
        HEDDLE_TRY(heddle_copy(network->stream, probabilities, plan->probabilities,
                               (size_t)count * (size_t)input->classes * sizeof(float)));
    if (loss)
        HEDDLE_TRY(heddle_copy(network->stream, loss, plan->loss, sizeof *loss));
    if (correct)
        HEDDLE_TRY(heddle_copy(network->stream, correct, plan->correct, sizeof *correct));
    return heddle_stream_synchronize(network->stream);
}

heddle_status heddle_network_predict(heddle_network *network, const float *images, int count, float *probabilities)
{
    if (!network || count < 0 || (count && (!images || !probabilities)))
        return heddle_fail(HEDDLE_INVALID, "heddle_network_predict needs a network, images and room for probabilities");
    const heddle_input_shape *input = &network->state->model->input;
    size_t pixels = (size_t)input->channels * (size_t)input->height * (size_t)input->width;
    for (int done = 0; done < count;) {
        int part = count - done < network->batch ? count - done : network->batch;
        HEDDLE_TRY(run_batch(network, images + (size_t)done * pixels, network->no_labels, part,
                             probabilities + (size_t)done * (size_t)input->classes, NULL, NULL));
        done += part;
    }
    return HEDDLE_OK;
}

static heddle_status check_dataset(const heddle_network *network, const heddle_dataset *dataset)
{
    const heddle_input_shape *input = &network->state->model->input;
    if (dataset->channels != input->channels || dataset->height != input->height || dataset->width != input->width)
        return heddle_fail(HEDDLE_INVALID, "dataset %s has %d×%d×%d images, the network takes %d×%d×%d", dataset->name,
                           dataset->channels, dataset->height, dataset->width, input->channels, input->height,
                           input->width);
    if (dataset->classes > input->classes)
        return heddle_fail(HEDDLE_INVALID, "dataset %s has %d classes, the network knows %d", dataset->name,
                           dataset->classes, input->classes);
    return HEDDLE_OK;
}

static void count_confusion(const heddle_batch *batch, const float *probabilities, int classes, int *confusion)
{
    for (int i = 0; i < batch->count; i++) {
        const float *row = probabilities + (size_t)i * (size_t)classes;
        int best = 0;
        for (int j = 1; j < classes; j++)
            best = row[j] > row[best] ? j : best;
        confusion[batch->labels[i] * classes + best]++;
    }
}

static heddle_status evaluate_batches(heddle_network *network, heddle_loader *loader, float *probabilities,
                                      heddle_evaluation *evaluation)
{
    int classes = network->state->model->input.classes;
    double loss_sum = 0;
    for (int i = 0; i < heddle_loader_batches(loader); i++) {
        heddle_batch batch;
        HEDDLE_TRY(heddle_loader_next(loader, &batch));
        float loss = 0;
        int32_t correct = 0;
        HEDDLE_TRY(run_batch(network, batch.images, batch.labels, batch.count,
                             evaluation->confusion ? probabilities : NULL, &loss, &correct));
        loss_sum += (double)loss * batch.count;
        evaluation->correct += correct;
        evaluation->count += batch.count;
        if (evaluation->confusion)
            count_confusion(&batch, probabilities, classes, evaluation->confusion);
    }
    evaluation->loss = evaluation->count ? loss_sum / evaluation->count : NAN;
    evaluation->accuracy = evaluation->count ? (double)evaluation->correct / evaluation->count : NAN;
    return HEDDLE_OK;
}

heddle_status heddle_network_evaluate(heddle_network *network, const heddle_dataset *dataset,
                                      heddle_evaluation *evaluation)
{
    if (!network || !dataset || !evaluation)
        return heddle_fail(HEDDLE_INVALID, "heddle_network_evaluate needs a network, a dataset and a place");
    HEDDLE_TRY(check_dataset(network, dataset));
    int classes = network->state->model->input.classes;
    *evaluation = (heddle_evaluation){.classes = classes, .confusion = evaluation->confusion};
    if (evaluation->confusion)
        memset(evaluation->confusion, 0, (size_t)classes * (size_t)classes * sizeof *evaluation->confusion);
    float *probabilities = malloc((size_t)network->batch * (size_t)classes * sizeof *probabilities);
    if (!probabilities)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for %d rows of probabilities", network->batch);
    heddle_loader *loader = NULL;
    heddle_loader_options options = {.batch = network->batch};
    heddle_status status = heddle_loader_create(dataset, &options, &loader);
    if (status == HEDDLE_OK)
        status = evaluate_batches(network, loader, probabilities, evaluation);
    heddle_loader_destroy(loader);
    free(probabilities);
    return status;
}
