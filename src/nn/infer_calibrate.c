// Calibrates int8: runs some images through the network over rows of fp16, one operator after another, and keeps the
// largest magnitude of what every group of layers computes.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/float16.h"
#include "nn/infer.h"
#include "nn/run.h"
#include "ops/rows_conv/rows_conv.h"

enum { MOST_BATCH = 64 };

// Everything that calibrating holds.
typedef struct calibration {
    heddle_stream *stream;
    heddle_dataset images; // the chosen ones
    heddle_feed *feed;
    heddle_plan *plan;
    uint16_t *values; // room for the largest value of the plan
    heddle_ranges *ranges;
} calibration;

// --- magnitudes ------------------------------------------------------------------------------------------------------

// Copies a value to the host.
static heddle_status read_value(calibration *job, heddle_value value, size_t *elements)
{
    const heddle_trace_value *values = job->plan->trace.values;
    *elements = values[value].elements;
    HEDDLE_TRY(heddle_copy(job->stream, job->values, values[values[value].root].memory, *elements * sizeof(uint16_t)));
    return heddle_stream_synchronize(job->stream);
}

static void raise_to(float *most, double magnitude)
{
    if (isnan(magnitude))
        *most = INFINITY;
    else if (magnitude > (double)*most)
        *most = (float)magnitude;
}

static heddle_status check_finite(float most)
{
    if (isfinite(most))
        return HEDDLE_OK;
    return heddle_fail(HEDDLE_INVALID, "an activation is too large for fp16, in which int8 is calibrated; use "
                                       "--precision bf16");
}

// What a group's product gave, but not between images, where nothing is meant to be.
static heddle_status take_output(calibration *job, const heddle_rows_group *group, float *most)
{
    size_t elements;
    HEDDLE_TRY(read_value(job, group->output, &elements));
    const bool positive = group->around < 0 && group->function == HEDDLE_ROWS_RELU;
    for (size_t i = 0; i < elements; i++) {
        if (!heddle_rows_conv_holds(&group->shape, (int)(i / (size_t)group->shape.k)))
            continue;
        const double value = heddle_f16_decode(job->values[i]);
        raise_to(most, positive ? value : fabs(value));
    }
    return check_finite(*most);
}

static heddle_status take_left(calibration *job, const heddle_rows_group *group, float *most)
{
    size_t elements;
    HEDDLE_TRY(read_value(job, group->left, &elements));
    for (size_t i = 0; i < elements; i++)
        raise_to(most, fabs(heddle_f16_decode(job->values[i])));
    return check_finite(*most);
}

static bool writes(const calibration *job, int node, heddle_value value)
{
    const heddle_trace_node *at = &job->plan->trace.nodes[node];
    for (int i = 0; i < at->op->operand_count; i++)
        if (at->op->operands[i].role == HEDDLE_OUTPUT && at->operand[i] == value)
            return true;
    return false;
}

// The magnitudes of what a node has just written.
static heddle_status take_node(calibration *job, int node)
{
    const heddle_rows *rows = job->plan->rows;
    for (int i = 0; i < rows->group_count - 1; i++) { // the last one leaves probabilities
        const heddle_rows_group *group = &rows->groups[i];
        if (group->in_trunk && i + 1 < heddle_rows_trunk_groups(rows))
            continue;
        const bool product = group->product && !group->in_trunk && !group->in_stem;
        if (product && writes(job, node, group->output))
            HEDDLE_TRY(take_output(job, group, &job->ranges->output[i]));
        if (writes(job, node, group->left))
            HEDDLE_TRY(take_left(job, group, &job->ranges->left[i]));
    }
    return HEDDLE_OK;
}

// --- images ----------------------------------------------------------------------------------------------------------

// Evenly spaced: a dataset may have its classes one after another.
static heddle_status choose_images(calibration *job, const heddle_dataset *dataset, int count)
{
    const size_t pixels = (size_t)dataset->channels * (size_t)dataset->height * (size_t)dataset->width;
    uint8_t *images = malloc((size_t)count * pixels), *labels = calloc((size_t)count, sizeof *labels);
    job->images = *dataset;
    job->images.count = count;
    job->images.images = images;
    job->images.labels = labels;
    if (!images || !labels)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for %d images to calibrate with", count);
    for (int i = 0; i < count; i++) {
        const size_t from = (size_t)((int64_t)i * dataset->count / count);
        memcpy(images + (size_t)i * pixels, dataset->images + from * pixels, pixels);
    }
    return HEDDLE_OK;
}

static heddle_status make_plan(calibration *job, heddle_state *state, const heddle_network_options *options, int batch)
{
    const heddle_feed_options feed = {.batch = batch};
    HEDDLE_TRY(heddle_feed_create(&job->images, job->stream, &feed, &job->feed));
    const heddle_plan_options plan = {
        .batch = batch,
        .kernels = options->kernels,
        .arithmetic = HEDDLE_INT8,
        .deterministic = true,
        .feed = job->feed,
    };
    HEDDLE_TRY(heddle_plan_create(state, job->stream, &plan, &job->plan));
    size_t most = 0;
    for (int i = 0; i < job->plan->trace.value_count; i++)
        most = job->plan->trace.values[i].elements > most ? job->plan->trace.values[i].elements : most;
    job->values = calloc(most + 1, sizeof *job->values);
    job->ranges = calloc(1, sizeof *job->ranges);
    return job->values && job->ranges ? HEDDLE_OK
                                      : heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to calibrate int8 with");
}

static heddle_status run_batches(calibration *job, int batches)
{
    heddle_plan *plan = job->plan;
    HEDDLE_TRY(heddle_plan_prepare(plan, job->stream));
    HEDDLE_TRY(heddle_feed_begin_pass(job->feed, job->stream));
    for (int batch = 0; batch < batches; batch++)
        for (int i = plan->prepared; i < plan->call_count; i++) {
            plan->calls[i].call.stream = job->stream;
            HEDDLE_TRY(heddle_launch(plan->calls[i].op, plan->calls[i].rung, &plan->calls[i].call));
            HEDDLE_TRY(take_node(job, i));
        }
    return heddle_stream_synchronize(job->stream);
}

heddle_status heddle_calibrate(heddle_state *state, heddle_stream *stream, const heddle_dataset *dataset, int count,
                               const heddle_network_options *options, heddle_ranges **ranges,
                               const heddle_layer **misfit)
{
    calibration job = {.stream = stream};
    count = count < dataset->count ? count : dataset->count;
    const int batch = count < MOST_BATCH ? count : MOST_BATCH;
    *ranges = NULL;
    *misfit = NULL;
    heddle_status status = choose_images(&job, dataset, count / batch * batch);
    if (status == HEDDLE_OK)
        status = make_plan(&job, state, options, batch);
    if (status == HEDDLE_OK && job.plan->by_rows)
        status = run_batches(&job, count / batch);
    if (status == HEDDLE_OK && job.plan->by_rows) {
        *ranges = job.ranges;
        job.ranges = NULL;
    }
    if (job.plan && job.plan->rows && !job.plan->by_rows)
        *misfit = job.plan->rows->misfit;
    heddle_plan_destroy(job.plan);
    heddle_feed_destroy(job.feed);
    free((void *)job.images.images);
    free((void *)job.images.labels);
    free(job.values);
    free(job.ranges);
    return status;
}
