// Evaluates a network on a dataset that lies on the device.

#include "nn/pass.h"

#include <math.h>
#include <stdlib.h>

#include "nn/plan.h"
#include "nn/run.h"

struct heddle_pass {
    heddle_device *device;
    heddle_dataset dataset; // a copy, which the feed is over
    int classes;            // of the network
    heddle_feed *feed;
    heddle_plan *full, *rest; // for a whole batch, and for the short last one
    heddle_feed_report *report;
    void *pinned;
    float *probabilities; // (images, classes) on the device; NULL until somebody wants the confusion
};

static heddle_status make(heddle_pass *pass, heddle_state *state, heddle_stream *stream,
                          const heddle_network_options *options, const struct heddle_ranges *ranges)
{
    const heddle_dataset *dataset = &pass->dataset;
    // As few batches as there have to be, as equal as they can be: often there is no rest to plan for.
    int most = options->batch < dataset->count ? options->batch : dataset->count;
    int batches = dataset->count / most + (dataset->count % most != 0);
    int batch = dataset->count / batches + (dataset->count % batches != 0);
    heddle_feed_options feed = {.batch = batch};
    HEDDLE_TRY(heddle_feed_create(dataset, stream, &feed, &pass->feed));
    heddle_plan_options plan = {
        .batch = batch,
        .kernels = options->kernels,
        .arithmetic = options->arithmetic,
        .deterministic = options->deterministic,
        .feed = pass->feed,
        .ranges = ranges,
    };
    HEDDLE_TRY(heddle_plan_create(state, stream, &plan, &pass->full));
    plan.batch = dataset->count % batch;
    if (plan.batch)
        HEDDLE_TRY(heddle_plan_create(state, stream, &plan, &pass->rest));
    const heddle_part parts[] = {{(void **)&pass->report, sizeof *pass->report}};
    return heddle_alloc_pinned_parts(pass->device, parts, 1, &pass->pinned);
}

heddle_status heddle_pass_create(heddle_state *state, heddle_stream *stream, const heddle_dataset *dataset,
                                 const heddle_network_options *options, const struct heddle_ranges *ranges,
                                 heddle_pass **pass)
{
    heddle_pass *made = calloc(1, sizeof *made);
    if (!made)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for an evaluation");
    made->device = state->device;
    made->dataset = *dataset;
    made->classes = state->model->input.classes;
    heddle_status status = make(made, state, stream, options, ranges);
    if (status != HEDDLE_OK) {
        heddle_pass_destroy(made);
        return status;
    }
    *pass = made;
    return HEDDLE_OK;
}

void heddle_pass_destroy(heddle_pass *pass)
{
    if (!pass)
        return;
    heddle_plan_destroy(pass->full);
    heddle_plan_destroy(pass->rest);
    heddle_feed_destroy(pass->feed);
    heddle_free(pass->device, pass->probabilities);
    heddle_free_pinned(pass->device, pass->pinned);
    free(pass);
}

bool heddle_pass_fits(const heddle_pass *pass, const heddle_dataset *dataset)
{
    return pass && pass->dataset.count == dataset->count;
}

heddle_status heddle_pass_upload(heddle_pass *pass, heddle_stream *stream, const heddle_dataset *dataset)
{
    pass->dataset = *dataset;
    return heddle_feed_upload(pass->feed, stream);
}

void heddle_confusion_count(int truth, const float *probabilities, heddle_evaluation *evaluation)
{
    int best = 0;
    for (int i = 1; i < evaluation->classes; i++)
        best = probabilities[i] > probabilities[best] ? i : best;
    evaluation->confusion[truth * evaluation->classes + best]++;
}

// All batches, with the probabilities of each kept where they are wanted.
static heddle_status queue_batches(heddle_pass *pass, heddle_stream *stream, bool keep)
{
    int batch = pass->feed->options.batch, count = pass->dataset.count;
    size_t classes = (size_t)pass->classes;
    for (int first = 0; first < count; first += batch) {
        heddle_plan *plan = pass->rest && count - first < batch ? pass->rest : pass->full;
        HEDDLE_TRY(heddle_plan_run(plan, stream));
        if (keep)
            HEDDLE_TRY(heddle_copy(stream, pass->probabilities + (size_t)first * classes, plan->probabilities,
                                   (size_t)plan->options.batch * classes * sizeof(float)));
    }
    return HEDDLE_OK;
}

static heddle_status count_confusion(heddle_pass *pass, heddle_stream *stream, heddle_evaluation *evaluation)
{
    size_t classes = (size_t)pass->classes, values = (size_t)pass->dataset.count * classes;
    float *probabilities = malloc(values * sizeof *probabilities);
    if (!probabilities)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for %d rows of probabilities", pass->dataset.count);
    heddle_status status = heddle_copy(stream, probabilities, pass->probabilities, values * sizeof *probabilities);
    status = heddle_wait_after(stream, status);
    for (int i = 0; i < pass->dataset.count && status == HEDDLE_OK; i++)
        heddle_confusion_count(pass->dataset.labels[i], probabilities + (size_t)i * classes, evaluation);
    free(probabilities);
    return status;
}

heddle_status heddle_pass_run(heddle_pass *pass, heddle_stream *stream, heddle_evaluation *evaluation)
{
    bool keep = evaluation->confusion != NULL;
    size_t bytes = (size_t)pass->dataset.count * (size_t)pass->classes * sizeof(float);
    if (keep && !pass->probabilities)
        HEDDLE_TRY(heddle_alloc_for(pass->device, "probabilities", bytes, (void **)&pass->probabilities));
    HEDDLE_TRY(heddle_plan_prepare(pass->full, stream));
    if (pass->rest)
        HEDDLE_TRY(heddle_plan_prepare(pass->rest, stream));
    HEDDLE_TRY(heddle_feed_begin_pass(pass->feed, stream));
    HEDDLE_TRY(queue_batches(pass, stream, keep));
    HEDDLE_TRY(heddle_feed_report_to(pass->feed, stream, pass->report));
    HEDDLE_TRY(heddle_stream_synchronize(stream));
    const double *tally = pass->report->tally;
    evaluation->count = pass->dataset.count;
    evaluation->correct = (int)tally[1];
    evaluation->loss = tally[2] == 0 ? tally[0] / evaluation->count : tally[3];
    evaluation->accuracy = (double)evaluation->correct / evaluation->count;
    return keep ? count_confusion(pass, stream, evaluation) : HEDDLE_OK;
}
