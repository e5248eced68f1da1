// Trained networks in use: prediction and evaluation with plans for a full batch and for the rest.

#include "nn/network.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/place.h"
#include "nn/checkpoint.h"
#include "nn/infer.h"
#include "nn/pass.h"
#include "nn/plan.h"
#include "nn/rows.h"
#include "nn/run.h"

enum { REASON_SIZE = 128 };

struct heddle_network {
    heddle_state *state;
    heddle_stream *stream;
    heddle_network_options options;
    heddle_plan *full;             // for `batch` samples
    heddle_plan *rest;             // for the latest smaller number
    int32_t *no_labels;            // zeros, where nobody knows the answer
    heddle_folded *folded;         // for a GPU or int8; NULL: none yet
    bool calibrated;               // for int8
    const heddle_layer *misfit;    // the layer that keeps a calibrated model from int8; NULL: none, or not one alone
    bool warned;                   // that int8 is not what it computes in
    heddle_ranges *ranges;         // of int8; NULL: it is not calibrated, or the model does not run over rows
    heddle_infer *infer;           // over its state
    heddle_pass *pass;             // over the dataset that was evaluated last; NULL: none yet, or on cpu
    heddle_checkpoint *checkpoint; // NULL: parameters from elsewhere
    heddle_model *model;           // set if the network owns it
    bool owns_state;
};

static heddle_status make(heddle_network *network, const heddle_network_options *options)
{
    network->options = *options;
    if (options->batch < 1)
        return heddle_fail(HEDDLE_INVALID, "a batch of %d; it must be at least 1", options->batch);
    if ((unsigned)options->kernels > HEDDLE_FUSED || (unsigned)options->arithmetic > HEDDLE_INT8)
        return heddle_fail(HEDDLE_INVALID, "kernels %d or arithmetic %d is out of range", (int)options->kernels,
                           (int)options->arithmetic);
    network->no_labels = calloc((size_t)options->batch, sizeof *network->no_labels);
    return network->no_labels ? HEDDLE_OK : heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a network");
}

heddle_status heddle_network_over(heddle_state *state, heddle_stream *stream, const heddle_network_options *options,
                                  heddle_network **network)
{
    heddle_network *made = calloc(1, sizeof *made);
    if (!made)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a network");
    made->state = state;
    made->stream = stream;
    heddle_status status = make(made, options);
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
    heddle_network_options options = {.batch = batch, .kernels = kernels, .deterministic = true};
    return heddle_network_open_with(device, checkpoint, &options, network);
}

heddle_status heddle_network_open_with(heddle_device *device, const char *checkpoint,
                                       const heddle_network_options *options, heddle_network **network)
{
    if (!device || !checkpoint || !options || !network)
        return heddle_fail(HEDDLE_INVALID, "heddle_network_open needs a device, a checkpoint and a place");
    heddle_network *made = calloc(1, sizeof *made);
    if (!made)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a network");
    heddle_status status = make(made, options);
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
    heddle_network_options options = {.batch = batch, .kernels = kernels, .deterministic = true};
    return heddle_network_create_with(device, model, seed, &options, network);
}

heddle_status heddle_network_create_with(heddle_device *device, const heddle_model *model, uint64_t seed,
                                         const heddle_network_options *options, heddle_network **network)
{
    if (!device || !model || !options || !network)
        return heddle_fail(HEDDLE_INVALID, "heddle_network_create needs a device, a model and a place");
    heddle_network *made = calloc(1, sizeof *made);
    if (!made)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a network");
    heddle_status status = make(made, options);
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
    heddle_pass_destroy(network->pass);
    heddle_infer_destroy(network->infer);
    heddle_folded_destroy(network->folded);
    free(network->ranges);
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

heddle_state *heddle_network_state(const heddle_network *network, heddle_stream **stream)
{
    *stream = network->stream;
    return network->state;
}

heddle_image_traits heddle_network_traits(const heddle_network *network)
{
    return network->checkpoint ? heddle_checkpoint_about_of(network->checkpoint)->traits : (heddle_image_traits){0};
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

// Folded parameters as those of the state are now, which only others' may change.
static heddle_status fold(heddle_network *network)
{
    if (network->folded && network->owns_state)
        return HEDDLE_OK;
    const bool is_new = !network->folded;
    if (is_new)
        HEDDLE_TRY(heddle_folded_create(network->state, &network->options, &network->folded));
    heddle_status status = heddle_folded_update(network->folded, network->stream);
    if (status != HEDDLE_OK && is_new) { // the next call must not find parameters that were never written
        heddle_folded_destroy(network->folded);
        network->folded = NULL;
    }
    return status;
}

// Whether bytes are predicted from as a GPU does it. Parameters that somebody else trains would have to be folded each
// time.
static bool has_infer(const heddle_network *network)
{
    return network->owns_state && (network->ranges || heddle_device_get_kind(network->state->device) != HEDDLE_CPU);
}

heddle_arithmetic heddle_network_arithmetic(const heddle_network *network)
{
    const heddle_plan *whole = network->full ? network->full : network->rest;
    const heddle_plan *plan = network->infer ? heddle_infer_plan(network->infer) : whole;
    return plan ? heddle_plan_arithmetic(plan) : network->options.arithmetic;
}

static heddle_status check_calibrated(const heddle_network *network)
{
    if (network->options.arithmetic != HEDDLE_INT8 || network->calibrated)
        return HEDDLE_OK;
    return heddle_fail(HEDDLE_INVALID, "int8 is not calibrated yet; call heddle_network_calibrate first");
}

// Once, where it is computed in something else; what needs int8 fails instead.
static void warn_of_no_int8(heddle_network *network)
{
    const heddle_tier tier = network->options.kernels;
    const heddle_layer *misfit = network->misfit;
    const char *model = network->state->model->name;
    const char *instead = heddle_device_get_kind(network->state->device) == HEDDLE_CPU ? "fp32" : "bf16 or finer";
    char page[HEDDLE_PLACE_SIZE], why[REASON_SIZE];
    if (network->warned || network->ranges || network->options.arithmetic != HEDDLE_INT8)
        return;
    network->warned = true;
    if (tier != HEDDLE_FUSED)
        heddle_log(HEDDLE_LOG_WARN, "%s kernels have no int8: model %s is computed in %s; fused kernels have it",
                   heddle_tier_names[tier], model, instead);
    else if (misfit)
        heddle_log(HEDDLE_LOG_WARN, "model %s is computed in %s: fused kernels have no int8 for layer %s %s; see %s",
                   model, instead, misfit->name, heddle_rows_misfit_reason(misfit, why, sizeof why),
                   heddle_page("models.md", page));
    else
        heddle_log(HEDDLE_LOG_WARN,
                   "model %s is computed in %s: fused kernels have no int8 for its layers here; see %s", model, instead,
                   heddle_page("models.md", page));
}

heddle_status heddle_network_calibrate(heddle_network *network, const heddle_dataset *dataset, int count,
                                       bool *quantised)
{
    if (!network || !dataset || count < 1 || dataset->count < 1)
        return heddle_fail(HEDDLE_INVALID, "heddle_network_calibrate needs a network, a dataset and at least 1 image");
    if (network->options.arithmetic != HEDDLE_INT8 || !network->owns_state || network->calibrated)
        return heddle_fail(HEDDLE_INVALID, "heddle_network_calibrate is for a network opened with int8, once");
    HEDDLE_TRY(check_dataset(network, dataset));
    HEDDLE_TRY(fold(network));
    HEDDLE_TRY(heddle_calibrate(network->folded->state, network->stream, dataset, count, &network->options,
                                &network->ranges, &network->misfit));
    network->calibrated = true;
    if (quantised)
        *quantised = network->ranges != NULL;
    return HEDDLE_OK;
}

// The plan for `count` samples; made at the first need and kept.
static heddle_status plan_for(heddle_network *network, int count, heddle_plan **plan)
{
    heddle_plan **place = count == network->options.batch ? &network->full : &network->rest;
    if (*place && (*place)->options.batch != count) {
        heddle_plan_destroy(*place);
        *place = NULL;
    }
    if (!*place) {
        heddle_plan_options options = {
            .batch = count,
            .kernels = network->options.kernels,
            .arithmetic = network->options.arithmetic,
            .deterministic = network->options.deterministic,
        };
        HEDDLE_TRY(heddle_plan_create(network->state, network->stream, &options, place));
    }
    *plan = *place;
    return HEDDLE_OK;
}

// Queues one batch and copies out what the caller wants.
static heddle_status queue_batch(heddle_network *network, const float *images, const int32_t *labels, int count,
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
    return HEDDLE_OK;
}

static heddle_status run_infer(heddle_network *network, const uint8_t *images, int count, float *probabilities)
{
    HEDDLE_TRY(fold(network));
    if (!network->infer)
        HEDDLE_TRY(heddle_infer_create(network->folded->state, &network->options, network->ranges, &network->infer));
    return heddle_infer_run(network->infer, images, count, probabilities);
}

heddle_status heddle_network_in_bytes(heddle_network *network, heddle_network_bytes *bytes)
{
    const heddle_input_shape *input = &network->state->model->input;
    char page[HEDDLE_PLACE_SIZE], why[REASON_SIZE];
    HEDDLE_TRY(check_calibrated(network));
    if (!network->ranges && network->misfit)
        return heddle_fail(HEDDLE_UNSUPPORTED, "model %s has no int8 network: no int8 for layer %s %s; see %s",
                           network->state->model->name, network->misfit->name,
                           heddle_rows_misfit_reason(network->misfit, why, sizeof why), heddle_page("models.md", page));
    if (!network->ranges)
        return heddle_fail(HEDDLE_UNSUPPORTED, "model %s has no int8 network; %s lists the layers that have one",
                           network->state->model->name, heddle_page("models.md", page));
    uint8_t *image = calloc((size_t)input->channels * (size_t)input->height, (size_t)input->width);
    float *probabilities = calloc((size_t)input->classes, sizeof *probabilities);
    heddle_status status = image && probabilities ? run_infer(network, image, 1, probabilities) // which quantises
                                                  : heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for an image");
    free(image);
    free(probabilities);
    HEDDLE_TRY(status);
    *bytes = (heddle_network_bytes){.rows = heddle_infer_plan(network->infer)->rows,
                                    .state = network->folded->state,
                                    .stream = network->stream,
                                    .checkpoint = network->checkpoint};
    return HEDDLE_OK;
}

// Of int8: the network reads bytes.
static heddle_status predict_as_bytes(heddle_network *network, const float *images, int count, float *probabilities)
{
    const heddle_input_shape *input = &network->state->model->input;
    const size_t values = (size_t)count * (size_t)input->channels * (size_t)input->height * (size_t)input->width;
    uint8_t *bytes = malloc(values + 1);
    if (!bytes)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for %d images", count);
    for (size_t i = 0; i < values; i++)
        bytes[i] = (uint8_t)rintf(fminf(fmaxf(images[i], 0), 1) * 255);
    const heddle_status status = run_infer(network, bytes, count, probabilities);
    free(bytes);
    return status;
}

// Batch by batch.
static heddle_status predict_batches(heddle_network *network, const float *images, int count, float *probabilities)
{
    const heddle_input_shape *input = &network->state->model->input;
    size_t pixels = (size_t)input->channels * (size_t)input->height * (size_t)input->width;
    // On cpu the queue stays as short as it is for one batch; on a GPU the batches follow each other.
    bool wait_for_each = heddle_device_get_kind(network->state->device) == HEDDLE_CPU;
    heddle_status status = HEDDLE_OK;
    for (int done = 0; done < count && status == HEDDLE_OK;) {
        int part = count - done < network->options.batch ? count - done : network->options.batch;
        status = queue_batch(network, images + (size_t)done * pixels, network->no_labels, part,
                             probabilities + (size_t)done * (size_t)input->classes, NULL, NULL);
        done += part;
        if (status == HEDDLE_OK && wait_for_each)
            status = heddle_stream_synchronize(network->stream);
    }
    // Also after a failure: what is queued still reads and writes the caller's memory.
    return heddle_wait_after(network->stream, status);
}

heddle_status heddle_network_predict(heddle_network *network, const float *images, int count, float *probabilities)
{
    if (!network || count < 0 || (count && (!images || !probabilities)))
        return heddle_fail(HEDDLE_INVALID, "heddle_network_predict needs a network, images and room for probabilities");
    HEDDLE_TRY(check_calibrated(network));
    warn_of_no_int8(network);
    return network->ranges ? predict_as_bytes(network, images, count, probabilities)
                           : predict_batches(network, images, count, probabilities);
}

// On cpu: as floats, batch by batch.
static heddle_status predict_as_floats(heddle_network *network, const uint8_t *images, int count, float *probabilities)
{
    const heddle_input_shape *input = &network->state->model->input;
    const size_t pixels = (size_t)input->channels * (size_t)input->height * (size_t)input->width;
    const int batch = network->options.batch;
    float *floats = malloc((size_t)(count < batch ? count : batch) * pixels * sizeof *floats);
    if (!floats)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a batch of %d images", batch);
    heddle_status status = HEDDLE_OK;
    for (int done = 0, part; done < count && status == HEDDLE_OK; done += part) {
        part = count - done < batch ? count - done : batch;
        for (size_t i = 0; i < (size_t)part * pixels; i++)
            floats[i] = (float)images[(size_t)done * pixels + i] / 255.0F;
        status = predict_batches(network, floats, part, probabilities + (size_t)done * (size_t)input->classes);
    }
    free(floats);
    return status;
}

heddle_status heddle_network_predict_bytes(heddle_network *network, const uint8_t *images, int count,
                                           float *probabilities)
{
    if (!network || count < 0 || (count && (!images || !probabilities)))
        return heddle_fail(HEDDLE_INVALID,
                           "heddle_network_predict_bytes needs a network, images and room for probabilities");
    if (count == 0)
        return HEDDLE_OK;
    HEDDLE_TRY(check_calibrated(network));
    warn_of_no_int8(network);
    return has_infer(network) ? run_infer(network, images, count, probabilities)
                              : predict_as_floats(network, images, count, probabilities);
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
        HEDDLE_TRY(queue_batch(network, batch.images, batch.labels, batch.count,
                               evaluation->confusion ? probabilities : NULL, &loss, &correct));
        HEDDLE_TRY(heddle_stream_synchronize(network->stream));
        loss_sum += (double)loss * batch.count;
        evaluation->correct += correct;
        evaluation->count += batch.count;
        if (evaluation->confusion)
            for (int j = 0; j < batch.count; j++)
                heddle_confusion_count(batch.labels[j], probabilities + (size_t)j * (size_t)classes, evaluation);
    }
    evaluation->loss = evaluation->count ? loss_sum / evaluation->count : NAN;
    evaluation->accuracy = evaluation->count ? (double)evaluation->correct / evaluation->count : NAN;
    return HEDDLE_OK;
}

// Batches brought by a loader, as on cpu.
static heddle_status evaluate_loaded(heddle_network *network, const heddle_dataset *dataset,
                                     heddle_evaluation *evaluation)
{
    int classes = network->state->model->input.classes;
    float *probabilities = malloc((size_t)network->options.batch * (size_t)classes * sizeof *probabilities);
    if (!probabilities)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for %d rows of probabilities", network->options.batch);
    heddle_loader *loader = NULL;
    heddle_loader_options options = {.batch = network->options.batch};
    heddle_status status = heddle_loader_create(dataset, &options, &loader);
    if (status == HEDDLE_OK)
        status = evaluate_batches(network, loader, probabilities, evaluation);
    heddle_loader_destroy(loader);
    free(probabilities);
    return status;
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
    HEDDLE_TRY(check_calibrated(network));
    warn_of_no_int8(network);
    if ((heddle_device_get_kind(network->state->device) == HEDDLE_CPU && !network->ranges) || dataset->count < 1)
        return evaluate_loaded(network, dataset, evaluation);
    HEDDLE_TRY(fold(network));
    if (!heddle_pass_fits(network->pass, dataset)) {
        heddle_pass_destroy(network->pass);
        network->pass = NULL;
        heddle_status status = heddle_pass_create(network->folded->state, network->stream, dataset, &network->options,
                                                  network->ranges, &network->pass);
        if (status == HEDDLE_OUT_OF_MEMORY &&
            !network->ranges) // images that the device has no room for come batch by batch
            return evaluate_loaded(network, dataset, evaluation);
        HEDDLE_TRY(status);
    } else if (network->owns_state) { // a trainer's test images stay the same
        HEDDLE_TRY(heddle_pass_upload(network->pass, network->stream, dataset));
    }
    return heddle_pass_run(network->pass, network->stream, evaluation);
}
