// conv_block forward and inference with Winograd's F(2×2, 3×3): 16 multiplications for four outputs instead of the 36
// of the direct convolution. An image is padded, transformed, multiplied and transformed back without leaving the L2
// cache. A tile of the algorithm is a pooling window, so inference pools in registers. Training needs the statistics of
// the batch first: the convolution is written once and read once more. Limited by: sixteen products of 49 × 32 · 32 ×
// 64 per image, at nine tenths of the multiply-add units' rate.

#include <string.h>

#include "base/threads.h"
#include "ops/across.h"
#include "ops/conv_block/batchnorm.h"
#include "ops/conv_block/layouts.h"
#include "ops/cpu/winograd.h"

typedef heddle_conv_block_shape block_shape;

// --- workspace ------------------------------------------------------------------------------------------------------

typedef struct workspace {
    float *packed;        // weights
    float *scale, *shift; // (outputs)
    float *statistics;    // (n, 2, outputs): mean and sum of squares of each image
    size_t worker_bytes;
    char *workers;
} workspace;

// A worker's part: the transforms' buffers, and the windows of one image, channels last.
typedef struct worker_part {
    heddle_winograd_scratch winograd;
    float *windows; // (h/2, w/2, outputs)
} worker_part;

static worker_part take_worker(const heddle_winograd *plan, heddle_scratch *scratch)
{
    worker_part part = {.winograd = heddle_winograd_take(plan, scratch)};
    part.windows = heddle_scratch_floats(scratch, (size_t)(plan->h / 2) * (plan->w / 2) * plan->outputs);
    return part;
}

static workspace take_workspace(const block_shape *shape, const heddle_winograd *plan, int threads,
                                heddle_scratch *scratch)
{
    heddle_scratch one_worker = {.base = NULL};
    take_worker(plan, &one_worker);
    workspace space = {.worker_bytes = one_worker.used};
    space.packed = heddle_scratch_floats(scratch, plan->weights);
    space.scale = heddle_scratch_floats(scratch, plan->outputs);
    space.shift = heddle_scratch_floats(scratch, plan->outputs);
    space.statistics = heddle_scratch_floats(scratch, (size_t)2 * shape->n * plan->outputs);
    space.workers = heddle_scratch_take(scratch, space.worker_bytes * threads);
    return space;
}

static heddle_winograd plan_of(const block_shape *shape)
{
    return heddle_winograd_plan(shape->c, shape->h, shape->w, shape->k);
}

size_t heddle_conv_block_cpu_winograd_workspace(const void *shape, int threads)
{
    heddle_winograd plan = plan_of(shape);
    heddle_scratch scratch = {.base = NULL};
    take_workspace(shape, &plan, threads, &scratch);
    return scratch.used;
}

// --- what the tasks share -------------------------------------------------------------------------------------------

typedef struct job {
    const block_shape *shape;
    heddle_winograd plan;
    const heddle_cpu_kernels *kernels;
    workspace space;
    const float *input, *weight, *weight_scale;
    float *output, *convolution; // convolution: training only
    uint8_t *code;
} job;

static worker_part worker_of(const job *work, int worker)
{
    heddle_scratch scratch = {.base = work->space.workers + work->space.worker_bytes * worker};
    return take_worker(&work->plan, &scratch);
}

static job start_job(const heddle_call *call)
{
    const block_shape *shape = call->shape;
    job work = {.shape = shape, .plan = plan_of(shape), .kernels = heddle_cpu_kernels_best()};
    heddle_scratch scratch = {.base = call->workspace};
    work.space = take_workspace(shape, &work.plan, heddle_pool_threads(call->pool), &scratch);
    memset(work.space.scale, 0, sizeof(float) * work.plan.outputs);
    memset(work.space.shift, 0, sizeof(float) * work.plan.outputs);
    return work;
}

static void pack_panel(void *context, int panel, int worker)
{
    const job *work = context;
    (void)worker;
    heddle_winograd_pack(&work->plan, work->weight, work->weight_scale, panel, work->space.packed);
}

// Where the windows of image n are written: straight to the output if it is channels last, else to the worker's part.
static float *windows_of(const job *work, const worker_part *part, int n, heddle_cpu_extent *windows)
{
    const block_shape *shape = work->shape;
    int channels = shape->output_channels_last ? shape->k : work->plan.outputs;
    *windows = heddle_conv_block_windows_extent(shape, channels);
    heddle_image_layout layout = heddle_conv_block_output_layout(shape);
    return shape->output_channels_last ? work->output + n * heddle_image_elements(&layout) : part->windows;
}

static void finish_windows(const job *work, const worker_part *part, int n)
{
    heddle_image_layout layout = heddle_conv_block_output_layout(work->shape);
    if (!layout.channels_last)
        heddle_image_spread(work->kernels, &layout, part->windows, work->plan.outputs, NULL,
                            work->output + n * heddle_image_elements(&layout));
}

// --- training -------------------------------------------------------------------------------------------------------

static void convolve_image(void *context, int n, int worker)
{
    const job *work = context;
    const heddle_winograd *plan = &work->plan;
    worker_part part = worker_of(work, worker);
    heddle_image_layout layout = heddle_conv_block_input_layout(work->shape);
    heddle_cpu_extent extent = heddle_conv_block_convolution_extent(work->shape);
    float *convolution = work->convolution + (size_t)n * extent.height * extent.row;

    heddle_image_pad(work->kernels, &layout, work->input + n * heddle_image_elements(&layout), &plan->frame,
                     part.winograd.image);
    for (int block = 0; block < heddle_winograd_blocks(plan); block++) {
        heddle_cpu_tiles inputs, outputs;
        int first = heddle_winograd_block(plan, block, &inputs, &outputs);
        heddle_cpu_extent rest = extent;
        rest.height -= 2 * first;
        work->kernels->winograd_input(&inputs, part.winograd.image + 2 * first * plan->image_row, plan->image_row,
                                      part.winograd.in_points);
        heddle_winograd_forward(plan, work->kernels, inputs.rows * inputs.columns, part.winograd.in_points,
                                work->space.packed, part.winograd.out_points);
        work->kernels->winograd_output(&outputs, part.winograd.out_points, convolution + 2 * first * extent.row, &rest);
    }
    float *statistics = work->space.statistics + (size_t)2 * n * plan->outputs;
    work->kernels->statistics(convolution, &extent, statistics, statistics + plan->outputs);
}

static void normalise_image(void *context, int n, int worker)
{
    const job *work = context;
    worker_part part = worker_of(work, worker);
    heddle_cpu_extent extent = heddle_conv_block_convolution_extent(work->shape), windows;
    float *to = windows_of(work, &part, n, &windows);
    work->kernels->normalise_pool(work->convolution + (size_t)n * extent.height * extent.row, &extent,
                                  work->space.scale, work->space.shift, to, &windows,
                                  work->code + (size_t)n * windows.height * windows.width * windows.channels);
    finish_windows(work, &part, n);
}

// Batchnorm of the channels from `first` on, from the images' statistics: as many as are sent together.
static heddle_status finish_channels(const heddle_call *call, const job *work,
                                     const heddle_conv_block_forward_operands *operands, int first)
{
    const block_shape *shape = work->shape;
    heddle_channel_statistics statistics[HEDDLE_ACROSS_CHUNK];
    int count = shape->k - first < HEDDLE_ACROSS_CHUNK ? shape->k - first : HEDDLE_ACROSS_CHUNK;
    double pixels = heddle_conv_block_pixels(shape);
    for (int i = 0; i < count; i++)
        statistics[i] = heddle_batchnorm_join(work->space.statistics, shape->n, work->plan.outputs, first + i,
                                              (double)shape->h * shape->w);
    HEDDLE_TRY(heddle_batchnorm_share(call, statistics, count, &pixels));
    for (int i = 0; i < count; i++) {
        heddle_channel_affine affine = heddle_batchnorm_training(shape, operands, first + i, statistics[i]);
        work->space.scale[first + i] = (float)affine.scale;
        work->space.shift[first + i] = (float)affine.shift;
        heddle_batchnorm_save(shape, operands, first + i, statistics[i], pixels);
    }
    return HEDDLE_OK;
}

heddle_status heddle_conv_block_cpu_winograd_forward(const heddle_call *call)
{
    const block_shape *shape = call->shape;
    heddle_conv_block_forward_operands operands = heddle_conv_block_forward_unpack(call);
    job work = start_job(call);
    work.input = operands.input;
    work.weight = operands.weight;
    work.output = operands.output;
    work.convolution = operands.convolution;
    work.code = operands.code;

    heddle_pool_run(call->pool, work.plan.outputs / HEDDLE_CPU_PANEL, pack_panel, &work);
    heddle_pool_run(call->pool, shape->n, convolve_image, &work);
    for (int k = 0; k < shape->k; k += HEDDLE_ACROSS_CHUNK)
        HEDDLE_TRY(finish_channels(call, &work, &operands, k));
    heddle_pool_run(call->pool, shape->n, normalise_image, &work);
    return HEDDLE_OK;
}

// --- inference ------------------------------------------------------------------------------------------------------

static void infer_image(void *context, int n, int worker)
{
    const job *work = context;
    const heddle_winograd *plan = &work->plan;
    worker_part part = worker_of(work, worker);
    heddle_image_layout layout = heddle_conv_block_input_layout(work->shape);
    heddle_cpu_extent windows;
    float *to = windows_of(work, &part, n, &windows);

    heddle_image_pad(work->kernels, &layout, work->input + n * heddle_image_elements(&layout), &plan->frame,
                     part.winograd.image);
    for (int block = 0; block < heddle_winograd_blocks(plan); block++) {
        heddle_cpu_tiles inputs, outputs;
        int first = heddle_winograd_block(plan, block, &inputs, &outputs);
        heddle_cpu_extent rest = windows;
        rest.height -= first;
        work->kernels->winograd_input(&inputs, part.winograd.image + 2 * first * plan->image_row, plan->image_row,
                                      part.winograd.in_points);
        heddle_winograd_forward(plan, work->kernels, inputs.rows * inputs.columns, part.winograd.in_points,
                                work->space.packed, part.winograd.out_points);
        work->kernels->winograd_output_pool(&outputs, part.winograd.out_points, work->space.shift,
                                            to + first * windows.row, &rest);
    }
    finish_windows(work, &part, n);
}

heddle_status heddle_conv_block_cpu_winograd_inference(const heddle_call *call)
{
    const block_shape *shape = call->shape;
    heddle_conv_block_inference_operands operands = heddle_conv_block_inference_unpack(call);
    job work = start_job(call);
    work.input = operands.input;
    work.weight = operands.weight;
    work.weight_scale = work.space.scale; // folded into the filters, it costs nothing per pixel
    work.output = operands.output;

    for (int k = 0; k < shape->k; k++) {
        heddle_channel_affine affine = heddle_batchnorm_inference(shape, &operands, k);
        work.space.scale[k] = (float)affine.scale;
        work.space.shift[k] = (float)affine.shift;
    }
    heddle_pool_run(call->pool, work.plan.outputs / HEDDLE_CPU_PANEL, pack_panel, &work);
    heddle_pool_run(call->pool, shape->n, infer_image, &work);
    return HEDDLE_OK;
}
