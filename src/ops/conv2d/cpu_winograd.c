// conv2d with Winograd's F(2×2, 3×3): 16 multiplications for four outputs instead of the 36 of the direct convolution.
// Only for 3×3 filters with stride 1 and padding 1. It shares transforms, products and layouts with conv_block's rung;
// here the image comes and goes channels first. That conversion is what is left to remove.

#include <string.h>

#include "base/threads.h"
#include "heddle/ops.h"
#include "ops/conv2d/conv2d.h"
#include "ops/cpu/winograd.h"
#include "ops/pieces.h"

enum {
    // With fewer channels the padding to whole panels costs more multiplications than the algorithm saves.
    LEAST_CHANNELS = 8,
    LEAST_PIECE = 4,  // images: with fewer, transforming the sums back into filters becomes noticeable
    MOST_PIECES = 32, // enough for that many threads
};

typedef struct workspace {
    float *packed;
    float *parts;      // backward_weight: (pieces, ...)
    float *bias_parts; // backward_weight: (pieces, k)
    size_t worker_bytes;
    char *workers;
} workspace;

typedef struct worker_part {
    heddle_winograd_scratch winograd;
    float *output;       // (h, w, outputs): the output, or its gradient
    float *grad_weights; // backward_weight
} worker_part;

typedef struct job {
    int images;
    heddle_winograd plan;
    const heddle_cpu_kernels *kernels;
    workspace space;
    const float *input, *weight, *bias, *grad_output;
    float *output, *grad_weight, *grad_bias;
    bool transposed; // the packed weights are for the gradient of the input
    int piece_images, pieces;
} job;

static worker_part take_worker(const heddle_winograd *plan, heddle_scratch *scratch)
{
    worker_part part = {.winograd = heddle_winograd_take(plan, scratch)};
    part.output = heddle_scratch_floats(scratch, (size_t)plan->h * plan->w * plan->outputs);
    part.grad_weights = heddle_scratch_floats(scratch, plan->weights);
    return part;
}

static workspace take_workspace(const job *work, int threads, heddle_scratch *scratch)
{
    heddle_scratch one_worker = {.base = NULL};
    take_worker(&work->plan, &one_worker);
    workspace space = {.worker_bytes = one_worker.used};
    space.packed = heddle_scratch_floats(scratch, work->plan.weights);
    space.parts = heddle_scratch_floats(scratch, work->pieces * heddle_winograd_part_floats(&work->plan));
    space.bias_parts = heddle_scratch_floats(scratch, (size_t)work->pieces * work->plan.k);
    space.workers = heddle_scratch_take(scratch, space.worker_bytes * threads);
    return space;
}

static job make_job(const heddle_conv2d_shape *shape, bool pieces)
{
    job work = {.images = shape->n, .plan = heddle_winograd_plan(shape->c, shape->h, shape->w, shape->k)};
    int images = (shape->n + MOST_PIECES - 1) / MOST_PIECES;
    work.piece_images = images > LEAST_PIECE ? images : LEAST_PIECE;
    work.pieces = pieces ? heddle_piece_count((size_t)shape->n, (size_t)work.piece_images) : 0;
    return work;
}

static void lay_out(job *work, const heddle_call *call)
{
    heddle_scratch scratch = {.base = call->workspace};
    work->kernels = heddle_cpu_kernels_best();
    work->space = take_workspace(work, heddle_pool_threads(call->pool), &scratch);
}

static size_t measure(const job *work, int threads)
{
    heddle_scratch scratch = {.base = NULL};
    take_workspace(work, threads, &scratch);
    return scratch.used;
}

static worker_part worker_of(const job *work, int worker)
{
    heddle_scratch scratch = {.base = work->space.workers + work->space.worker_bytes * worker};
    return take_worker(&work->plan, &scratch);
}

static heddle_image_layout input_layout(const heddle_winograd *plan)
{
    return (heddle_image_layout){plan->c, plan->h, plan->w, .channels_last = 0};
}

static heddle_image_layout output_layout(const heddle_winograd *plan)
{
    return (heddle_image_layout){plan->k, plan->h, plan->w, .channels_last = 0};
}

// The worker's (h, w, outputs), from row `first` on.
static heddle_cpu_extent rows_from(const heddle_winograd *plan, int first)
{
    return (heddle_cpu_extent){.height = plan->h - first,
                               .width = plan->w,
                               .channels = plan->outputs,
                               .row = (ptrdiff_t)plan->w * plan->outputs,
                               .pixel = plan->outputs};
}

bool heddle_conv2d_cpu_winograd_supports(const void *shape_)
{
    const heddle_conv2d_shape *shape = shape_;
    return shape->r == 3 && shape->s == 3 && shape->stride == 1 && shape->padding == 1 && shape->dilation == 1 &&
           shape->c >= LEAST_CHANNELS && shape->k >= LEAST_CHANNELS;
}

static void pack_panel(void *context, int panel, int worker)
{
    const job *work = context;
    (void)worker;
    if (work->transposed)
        heddle_winograd_pack_transposed(&work->plan, work->weight, panel, work->space.packed);
    else
        heddle_winograd_pack(&work->plan, work->weight, NULL, panel, work->space.packed);
}

// --- forward --------------------------------------------------------------------------------------------------------

static void forward_image(void *context, int n, int worker)
{
    const job *work = context;
    const heddle_winograd *plan = &work->plan;
    worker_part part = worker_of(work, worker);
    heddle_image_layout from = input_layout(plan), to = output_layout(plan);
    heddle_image_pad(work->kernels, &from, work->input + n * heddle_image_elements(&from), &plan->frame,
                     part.winograd.image);
    for (int block = 0; block < heddle_winograd_blocks(plan); block++) {
        heddle_cpu_tiles inputs, outputs;
        int first = 2 * heddle_winograd_block(plan, block, &inputs, &outputs);
        heddle_cpu_extent rest = rows_from(plan, first);
        work->kernels->winograd_input(&inputs, part.winograd.image + first * plan->image_row, plan->image_row,
                                      part.winograd.in_points);
        heddle_winograd_forward(plan, work->kernels, inputs.rows * inputs.columns, part.winograd.in_points,
                                work->space.packed, part.winograd.out_points);
        work->kernels->winograd_output(&outputs, part.winograd.out_points, part.output + first * rest.row, &rest);
    }
    heddle_image_spread(work->kernels, &to, part.output, plan->outputs, work->bias,
                        work->output + n * heddle_image_elements(&to));
}

size_t heddle_conv2d_cpu_winograd_workspace(const void *shape, int threads)
{
    job work = make_job(shape, false);
    return measure(&work, threads);
}

heddle_status heddle_conv2d_forward_cpu_winograd(const heddle_call *call)
{
    job work = make_job(call->shape, false);
    work.input = call->input[0];
    work.weight = call->input[1];
    work.bias = call->input[2];
    work.output = call->output[0];
    lay_out(&work, call);
    heddle_pool_run(call->pool, work.plan.outputs / HEDDLE_CPU_PANEL, pack_panel, &work);
    heddle_pool_run(call->pool, work.images, forward_image, &work);
    return HEDDLE_OK;
}

// --- the gradient of the input --------------------------------------------------------------------------------------

static void backward_data_image(void *context, int n, int worker)
{
    const job *work = context;
    const heddle_winograd *plan = &work->plan;
    worker_part part = worker_of(work, worker);
    heddle_image_layout from = output_layout(plan), to = input_layout(plan);
    heddle_image_gather(work->kernels, &from, work->grad_output + n * heddle_image_elements(&from), plan->outputs,
                        part.output);
    for (int block = 0; block < heddle_winograd_blocks(plan); block++) {
        heddle_cpu_tiles inputs, outputs;
        int first = 2 * heddle_winograd_block(plan, block, &inputs, &outputs);
        heddle_cpu_extent rest = rows_from(plan, first);
        work->kernels->winograd_grad_output(&outputs, part.output + first * rest.row, &rest, part.winograd.out_points);
        heddle_winograd_backward_data(plan, work->kernels, inputs.rows * inputs.columns, part.winograd.out_points,
                                      work->space.packed, part.winograd.in_points);
        work->kernels->winograd_grad_input(&inputs, part.winograd.in_points,
                                           part.winograd.image + first * plan->image_row, plan->image_row, first == 0);
    }
    heddle_image_unpad(work->kernels, &to, &plan->frame, part.winograd.image,
                       work->output + n * heddle_image_elements(&to));
}

heddle_status heddle_conv2d_backward_data_cpu_winograd(const heddle_call *call)
{
    job work = make_job(call->shape, false);
    work.transposed = true;
    work.weight = call->input[0];
    work.grad_output = call->input[1];
    work.output = call->output[0];
    lay_out(&work, call);
    heddle_pool_run(call->pool, work.plan.inputs / HEDDLE_CPU_PANEL, pack_panel, &work);
    heddle_pool_run(call->pool, work.images, backward_data_image, &work);
    return HEDDLE_OK;
}

// --- the gradient of the weights ------------------------------------------------------------------------------------

static void backward_weight_image(const job *work, const worker_part *part, size_t n)
{
    const heddle_winograd *plan = &work->plan;
    heddle_image_layout input = input_layout(plan), grad = output_layout(plan);
    heddle_image_pad(work->kernels, &input, work->input + n * heddle_image_elements(&input), &plan->frame,
                     part->winograd.image);
    heddle_image_gather(work->kernels, &grad, work->grad_output + n * heddle_image_elements(&grad), plan->outputs,
                        part->output);
    for (int block = 0; block < heddle_winograd_blocks(plan); block++) {
        heddle_cpu_tiles inputs, outputs;
        int first = 2 * heddle_winograd_block(plan, block, &inputs, &outputs);
        heddle_cpu_extent rest = rows_from(plan, first);
        work->kernels->winograd_input(&inputs, part->winograd.image + first * plan->image_row, plan->image_row,
                                      part->winograd.in_points);
        work->kernels->winograd_grad_output(&outputs, part->output + first * rest.row, &rest,
                                            part->winograd.out_points);
        heddle_winograd_backward_weight(plan, work->kernels, inputs.rows * inputs.columns, part->winograd.in_points,
                                        part->winograd.out_points, part->grad_weights);
    }
}

// The sum of an output plane's gradient, row by row, which keeps the rounding error small.
static float plane_sum(const float *plane, int rows, int columns)
{
    float total = 0;
    for (int y = 0; y < rows; y++) {
        float sum = 0;
        for (int x = 0; x < columns; x++)
            sum += plane[(size_t)y * columns + x];
        total += sum;
    }
    return total;
}

static void backward_weight_piece(void *context, size_t begin, size_t end, int piece, int worker)
{
    const job *work = context;
    const heddle_winograd *plan = &work->plan;
    worker_part part = worker_of(work, worker);
    float *bias_sums = work->space.bias_parts + (size_t)piece * plan->k;
    memset(part.grad_weights, 0, sizeof(float) * plan->weights);
    memset(bias_sums, 0, sizeof(float) * plan->k);
    for (size_t n = begin; n < end; n++) {
        backward_weight_image(work, &part, n);
        for (int k = 0; work->grad_bias && k < plan->k; k++)
            bias_sums[k] += plane_sum(work->grad_output + (n * plan->k + k) * plan->h * plan->w, plan->h, plan->w);
    }
    heddle_winograd_grad_weights(plan, part.grad_weights,
                                 work->space.parts + piece * heddle_winograd_part_floats(plan));
}

static void add_parts_of_panel(void *context, int panel, int worker)
{
    const job *work = context;
    (void)worker;
    heddle_winograd_add_parts(&work->plan, work->space.parts, work->pieces, panel, work->grad_weight);
}

size_t heddle_conv2d_backward_weight_cpu_winograd_workspace(const void *shape, int threads)
{
    job work = make_job(shape, true);
    return measure(&work, threads);
}

heddle_status heddle_conv2d_backward_weight_cpu_winograd(const heddle_call *call)
{
    job work = make_job(call->shape, true);
    work.input = call->input[0];
    work.grad_output = call->input[1];
    work.grad_weight = call->output[0];
    work.grad_bias = call->output[1];
    lay_out(&work, call);
    heddle_pieces_run(call->pool, (size_t)work.images, (size_t)work.piece_images, backward_weight_piece, &work);
    heddle_pool_run(call->pool, work.plan.outputs / HEDDLE_CPU_PANEL, add_parts_of_panel, &work);
    for (int k = 0; work.grad_bias && k < work.plan.k; k++) {
        double sum = 0;
        for (int piece = 0; piece < work.pieces; piece++)
            sum += (double)work.space.bias_parts[(size_t)piece * work.plan.k + k];
        work.grad_bias[k] = (float)sum;
    }
    return HEDDLE_OK;
}
