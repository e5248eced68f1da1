// conv_block backward with the transpose of Winograd's F(2×2, 3×3). One pass over the batch computes the sums for
// batchnorm's gradient. Then, one image at a time, the gradient of the convolution is computed from the pooled one,
// tile by tile in registers, and transformed directly. The transformed values serve twice: times the filters they are
// the input's gradient, times the transformed input the weights'. The gradient of the convolution itself is never
// stored. Images are taken in fixed pieces, each with its own sum of weight gradients, added in order: the result does
// not depend on the number of threads.

#include <string.h>

#include "base/threads.h"
#include "ops/across.h"
#include "ops/conv_block/conv_block.h"
#include "ops/conv_block/layouts.h"
#include "ops/cpu/winograd.h"
#include "ops/pieces.h"

typedef heddle_conv_block_shape block_shape;

enum {
    LEAST_PIECE = 4,  // images: with fewer, transforming the sums back into filters becomes noticeable
    MOST_PIECES = 32, // enough for that many threads
};

static int piece_images(const block_shape *shape)
{
    int images = (shape->n + MOST_PIECES - 1) / MOST_PIECES;
    return images > LEAST_PIECE ? images : LEAST_PIECE;
}

// --- workspace ------------------------------------------------------------------------------------------------------

typedef struct workspace {
    float *packed;                        // weights, transposed
    float *scale, *mean, *slope, *offset; // (outputs)
    float *sums;                          // (n, 2, outputs): of each image's gradient, and of that times (z - mean)
    float *parts;                         // (pieces, ...): weight gradients
    size_t worker_bytes;
    char *workers;
} workspace;

typedef struct worker_part {
    heddle_winograd_scratch winograd;
    float *grad_image;   // frame: the input's gradient
    float *grad_windows; // (h/2, w/2, outputs)
    float *grad_weights; // (16, outputs / 16, inputs, 16)
} worker_part;

static worker_part take_worker(const heddle_winograd *plan, heddle_scratch *scratch)
{
    worker_part part = {.winograd = heddle_winograd_take(plan, scratch)};
    part.grad_image = heddle_scratch_floats(scratch, (size_t)plan->frame.rows * plan->image_row);
    part.grad_windows = heddle_scratch_floats(scratch, (size_t)(plan->h / 2) * (plan->w / 2) * plan->outputs);
    part.grad_weights = heddle_scratch_floats(scratch, plan->weights);
    return part;
}

static workspace take_workspace(const block_shape *shape, const heddle_winograd *plan, int threads,
                                heddle_scratch *scratch)
{
    heddle_scratch one_worker = {.base = NULL};
    take_worker(plan, &one_worker);
    int pieces = heddle_piece_count(shape->n, piece_images(shape));
    workspace space = {.worker_bytes = one_worker.used};
    space.packed = heddle_scratch_floats(scratch, plan->weights);
    space.scale = heddle_scratch_floats(scratch, plan->outputs);
    space.mean = heddle_scratch_floats(scratch, plan->outputs);
    space.slope = heddle_scratch_floats(scratch, plan->outputs);
    space.offset = heddle_scratch_floats(scratch, plan->outputs);
    space.sums = heddle_scratch_floats(scratch, (size_t)2 * shape->n * plan->outputs);
    space.parts = heddle_scratch_floats(scratch, pieces * heddle_winograd_part_floats(plan));
    space.workers = heddle_scratch_take(scratch, space.worker_bytes * threads);
    return space;
}

static heddle_winograd plan_of(const block_shape *shape)
{
    return heddle_winograd_plan(shape->c, shape->h, shape->w, shape->k);
}

size_t heddle_conv_block_cpu_winograd_backward_workspace(const void *shape, int threads)
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
    heddle_conv_block_backward_operands operands;
} job;

static worker_part worker_of(const job *work, int worker)
{
    heddle_scratch scratch = {.base = work->space.workers + work->space.worker_bytes * worker};
    return take_worker(&work->plan, &scratch);
}

// The operands for the gradient of image n's convolution. The pooled gradient is converted to channels last first.
static heddle_cpu_unpool unpool_of(const job *work, const worker_part *part, int n)
{
    const block_shape *shape = work->shape;
    heddle_image_layout layout = heddle_conv_block_output_layout(shape);
    heddle_cpu_extent z = heddle_conv_block_convolution_extent(shape);
    heddle_image_gather(work->kernels, &layout, work->operands.grad_output + n * heddle_image_elements(&layout),
                        work->plan.outputs, part->grad_windows);
    return (heddle_cpu_unpool){
        .convolution = work->operands.convolution + (size_t)n * z.height * z.row,
        .z = z,
        .grad = part->grad_windows,
        .grad_row = (ptrdiff_t)(shape->w / 2) * work->plan.outputs,
        .grad_pixel = work->plan.outputs,
        .code = work->operands.code + n * heddle_conv_block_windows(shape) * shape->k,
        .code_row = (ptrdiff_t)(shape->w / 2) * shape->k,
        .window_rows = shape->h / 2,
        .window_columns = shape->w / 2,
        .scale = work->space.scale,
        .mean = work->space.mean,
        .slope = work->space.slope,
        .offset = work->space.offset,
    };
}

// The same from tile row `first` on.
static heddle_cpu_unpool unpool_from(const heddle_cpu_unpool *whole, int first)
{
    heddle_cpu_unpool rest = *whole;
    rest.convolution += 2 * first * whole->z.row;
    rest.z.height -= 2 * first;
    rest.grad += first * whole->grad_row;
    rest.code += first * whole->code_row;
    rest.window_rows -= first;
    return rest;
}

// --- batchnorm's sums -----------------------------------------------------------------------------------------------

static void sum_image(void *context, int n, int worker)
{
    const job *work = context;
    worker_part part = worker_of(work, worker);
    heddle_cpu_unpool from = unpool_of(work, &part, n);
    float *sums = work->space.sums + (size_t)2 * n * work->plan.outputs;
    work->kernels->gradient_sums(&from, sums, sums + work->plan.outputs);
}

// Σ dy and Σ dy (z - mean) of channel k, which are also gradients. If the batch is spread over processes these are this
// process's part: all gradients are added later.
static void sum_channel(const job *work, int k, double *sum, double *weighted)
{
    const heddle_conv_block_backward_operands *operands = &work->operands;
    int outputs = work->plan.outputs;
    *sum = *weighted = 0;
    for (int n = 0; n < work->shape->n; n++) {
        *sum += (double)work->space.sums[(size_t)2 * n * outputs + k];
        *weighted += (double)work->space.sums[((size_t)2 * n + 1) * outputs + k];
    }
    operands->grad_beta[k] = (float)*sum;
    operands->grad_gamma[k] = (float)(*weighted * (double)operands->inverse_std[k]);
    if (operands->grad_bias)
        operands->grad_bias[k] = 0; // batchnorm subtracts whatever the bias adds
}

// dz = γ/σ (dy - mean(dy) - ẑ mean(dy ẑ)), as scale · dy + z · slope + offset. The sums are over the whole batch.
static void fold_channel(const job *work, int k, double sum, double weighted, double pixels)
{
    const heddle_conv_block_backward_operands *operands = &work->operands;
    double inverse_std = (double)operands->inverse_std[k], scale = (double)operands->gamma[k] * inverse_std;
    work->space.scale[k] = (float)scale;
    double slope = -scale * inverse_std * inverse_std * weighted / pixels;
    work->space.slope[k] = (float)slope;
    work->space.offset[k] = (float)(-scale * sum / pixels - slope * (double)operands->mean[k]);
}

// The channels from `first` on, as many as are sent together.
static heddle_status finish_channels(const heddle_call *call, const job *work, int first)
{
    double values[1 + 2 * HEDDLE_ACROSS_CHUNK];
    int rest = work->shape->k - first, count = rest < HEDDLE_ACROSS_CHUNK ? rest : HEDDLE_ACROSS_CHUNK;
    values[0] = heddle_conv_block_pixels(work->shape);
    for (int i = 0; i < count; i++)
        sum_channel(work, first + i, &values[1 + 2 * i], &values[2 + 2 * i]);
    HEDDLE_TRY(heddle_across_sum(call, values, 1 + 2 * count));
    for (int i = 0; i < count; i++)
        fold_channel(work, first + i, values[1 + 2 * i], values[2 + 2 * i], values[0]);
    return HEDDLE_OK;
}

static void clear_padding(const job *work)
{
    size_t rest = sizeof(float) * (work->plan.outputs - work->shape->k);
    memset(work->space.scale + work->shape->k, 0, rest);
    memset(work->space.mean + work->shape->k, 0, rest);
    memset(work->space.slope + work->shape->k, 0, rest);
    memset(work->space.offset + work->shape->k, 0, rest);
}

// --- gradients ------------------------------------------------------------------------------------------------------

static void pack_panel(void *context, int panel, int worker)
{
    const job *work = context;
    (void)worker;
    heddle_winograd_pack_transposed(&work->plan, work->operands.weight, panel, work->space.packed);
}

static void backward_image(const job *work, const worker_part *part, int n)
{
    const heddle_winograd *plan = &work->plan;
    const heddle_cpu_kernels *kernels = work->kernels;
    heddle_image_layout layout = heddle_conv_block_input_layout(work->shape);
    heddle_cpu_unpool whole = unpool_of(work, part, n);
    size_t image = n * heddle_image_elements(&layout);

    heddle_image_pad(work->kernels, &layout, work->operands.input + image, &plan->frame, part->winograd.image);
    for (int block = 0; block < heddle_winograd_blocks(plan); block++) {
        heddle_cpu_tiles inputs, outputs;
        int first = heddle_winograd_block(plan, block, &inputs, &outputs), tiles = inputs.rows * inputs.columns;
        heddle_cpu_unpool from = unpool_from(&whole, first);
        ptrdiff_t top = 2 * first * plan->image_row;
        kernels->winograd_input(&inputs, part->winograd.image + top, plan->image_row, part->winograd.in_points);
        kernels->winograd_grad_unpool(&outputs, &from, part->winograd.out_points);
        heddle_winograd_backward_weight(plan, kernels, tiles, part->winograd.in_points, part->winograd.out_points,
                                        part->grad_weights);
        if (!work->operands.grad_input)
            continue;
        heddle_winograd_backward_data(plan, kernels, tiles, part->winograd.out_points, work->space.packed,
                                      part->winograd.in_points);
        kernels->winograd_grad_input(&inputs, part->winograd.in_points, part->grad_image + top, plan->image_row,
                                     first == 0);
    }
    if (work->operands.grad_input)
        heddle_image_unpad(work->kernels, &layout, &plan->frame, part->grad_image, work->operands.grad_input + image);
}

static void backward_piece(void *context, size_t begin, size_t end, int piece, int worker)
{
    const job *work = context;
    worker_part part = worker_of(work, worker);
    memset(part.grad_weights, 0, sizeof(float) * work->plan.weights);
    for (size_t n = begin; n < end; n++)
        backward_image(work, &part, (int)n);
    heddle_winograd_grad_weights(&work->plan, part.grad_weights,
                                 work->space.parts + piece * heddle_winograd_part_floats(&work->plan));
}

static void add_parts_of_panel(void *context, int panel, int worker)
{
    const job *work = context;
    (void)worker;
    heddle_winograd_add_parts(&work->plan, work->space.parts,
                              heddle_piece_count(work->shape->n, piece_images(work->shape)), panel,
                              work->operands.grad_weight);
}

heddle_status heddle_conv_block_cpu_winograd_backward(const heddle_call *call)
{
    const block_shape *shape = call->shape;
    job work = {.shape = shape,
                .plan = plan_of(shape),
                .kernels = heddle_cpu_kernels_best(),
                .operands = heddle_conv_block_backward_unpack(call)};
    heddle_scratch scratch = {.base = call->workspace};
    work.space = take_workspace(shape, &work.plan, heddle_pool_threads(call->pool), &scratch);

    clear_padding(&work);
    memcpy(work.space.mean, work.operands.mean, sizeof(float) * shape->k);
    heddle_pool_run(call->pool, shape->n, sum_image, &work);
    for (int k = 0; k < shape->k; k += HEDDLE_ACROSS_CHUNK)
        HEDDLE_TRY(finish_channels(call, &work, k));
    if (work.operands.grad_input)
        heddle_pool_run(call->pool, work.plan.inputs / HEDDLE_CPU_PANEL, pack_panel, &work);
    heddle_pieces_run(call->pool, shape->n, piece_images(shape), backward_piece, &work);
    heddle_pool_run(call->pool, work.plan.outputs / HEDDLE_CPU_PANEL, add_parts_of_panel, &work);
    return HEDDLE_OK;
}
