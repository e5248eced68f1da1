// conv2d without unfolding the image. The image is converted to channels last and padded once, and the matrix product
// reads it in place, one register tile of outputs at a time. im2col writes and reads every input r·s times; here it
// stays in cache. Limited by: the multiply-add units, and converting the layout there and back.

#include <string.h>

#include "base/threads.h"
#include "ops/conv2d/conv2d.h"
#include "ops/cpu/direct.h"
#include "ops/pieces.h"

enum {
    LEAST_PIECE = 4,  // images: with fewer, adding the pieces' weight gradients becomes noticeable
    MOST_PIECES = 32, // enough for that many threads
    // The gradient of a single channel would be one column of a panel of 16; cpu_im2col is seven times as fast.
    LEAST_GRAD_CHANNELS = 2,
};

typedef struct workspace {
    float *packed;
    float *parts;      // backward_weight: (pieces, weights)
    float *bias_parts; // backward_weight: (pieces, outputs)
    size_t worker_bytes;
    char *workers;
} workspace;

typedef struct worker_part {
    float *image;  // framed input
    float *output; // (out_h, out_w, outputs): the output, or its gradient
} worker_part;

typedef struct job {
    heddle_direct plan;
    const heddle_cpu_kernels *kernels;
    workspace space;
    const float *input, *weight, *bias, *grad_output;
    float *output, *grad_weight, *grad_bias;
    bool transposed; // the plan is the transposed one: weights are packed for it
    int piece_images, pieces;
} job;

static worker_part take_worker(const heddle_direct *plan, heddle_scratch *scratch)
{
    return (worker_part){
        .image = heddle_scratch_floats(scratch, plan->image),
        .output = heddle_scratch_floats(scratch, (size_t)plan->out_h * plan->out_w * plan->outputs + HEDDLE_CPU_SLACK),
    };
}

static workspace take_workspace(const heddle_direct *plan, int pieces, int threads, heddle_scratch *scratch)
{
    heddle_scratch one_worker = {.base = NULL};
    take_worker(plan, &one_worker);
    workspace space = {.worker_bytes = one_worker.used};
    space.packed = heddle_scratch_floats(scratch, pieces ? 0 : plan->weights);
    space.parts = heddle_scratch_floats(scratch, pieces * plan->weights);
    space.bias_parts = heddle_scratch_floats(scratch, (size_t)pieces * plan->outputs);
    space.workers = heddle_scratch_take(scratch, space.worker_bytes * threads);
    return space;
}

static worker_part worker_of(const job *work, int worker)
{
    heddle_scratch scratch = {.base = work->space.workers + work->space.worker_bytes * worker};
    return take_worker(&work->plan, &scratch);
}

static heddle_image_layout input_layout(const heddle_direct *plan)
{
    return (heddle_image_layout){plan->shape.c, plan->shape.h, plan->shape.w, .channels_last = 0};
}

static heddle_image_layout output_layout(const heddle_direct *plan)
{
    return (heddle_image_layout){plan->shape.k, plan->out_h, plan->out_w, .channels_last = 0};
}

static void load_image(const job *work, const worker_part *part, size_t n)
{
    heddle_image_layout layout = input_layout(&work->plan);
    heddle_image_pad(work->kernels, &layout, work->input + n * heddle_image_elements(&layout), &work->plan.frame,
                     part->image);
}

// --- forward, and the gradient of the input, which is a forward pass with flipped filters ---------------------------

static void pack_panel(void *context, int panel, int worker)
{
    const job *work = context;
    (void)worker;
    if (work->transposed)
        heddle_direct_pack_transposed(&work->plan, work->weight, panel, work->space.packed);
    else
        heddle_direct_pack(&work->plan, work->weight, panel, work->space.packed);
}

static void convolve_image(void *context, int n, int worker)
{
    const job *work = context;
    worker_part part = worker_of(work, worker);
    heddle_image_layout layout = output_layout(&work->plan);
    load_image(work, &part, (size_t)n);
    heddle_direct_forward(&work->plan, work->kernels, part.image, work->space.packed, part.output);
    heddle_image_spread(work->kernels, &layout, part.output, work->plan.outputs, work->bias,
                        work->output + n * heddle_image_elements(&layout));
}

static heddle_status convolve(const heddle_call *call, job *work)
{
    heddle_scratch scratch = {.base = call->workspace};
    work->kernels = heddle_cpu_kernels_best();
    work->space = take_workspace(&work->plan, 0, heddle_pool_threads(call->pool), &scratch);
    heddle_pool_run(call->pool, work->plan.outputs / HEDDLE_CPU_PANEL, pack_panel, work);
    heddle_pool_run(call->pool, work->plan.shape.n, convolve_image, work);
    return HEDDLE_OK;
}

static size_t convolve_workspace(const heddle_direct *plan, int threads)
{
    heddle_scratch scratch = {.base = NULL};
    take_workspace(plan, 0, threads, &scratch);
    return scratch.used;
}

bool heddle_conv2d_cpu_direct_supports(const void *shape)
{
    return heddle_direct_supports(shape);
}

size_t heddle_conv2d_forward_cpu_direct_workspace(const void *shape, int threads)
{
    heddle_direct plan = heddle_direct_plan(shape);
    return convolve_workspace(&plan, threads);
}

heddle_status heddle_conv2d_forward_cpu_direct(const heddle_call *call)
{
    job work = {.plan = heddle_direct_plan(call->shape),
                .input = call->input[0],
                .weight = call->input[1],
                .bias = call->input[2],
                .output = call->output[0]};
    return convolve(call, &work);
}

bool heddle_conv2d_backward_data_cpu_direct_supports(const void *shape_)
{
    const heddle_conv2d_shape *shape = shape_;
    return shape->c >= LEAST_GRAD_CHANNELS && heddle_direct_supports(shape) && heddle_direct_has_transpose(shape);
}

size_t heddle_conv2d_backward_data_cpu_direct_workspace(const void *shape, int threads)
{
    heddle_direct plan = heddle_direct_transpose(shape);
    return convolve_workspace(&plan, threads);
}

heddle_status heddle_conv2d_backward_data_cpu_direct(const heddle_call *call)
{
    job work = {.plan = heddle_direct_transpose(call->shape),
                .transposed = true,
                .weight = call->input[0],
                .input = call->input[1],
                .output = call->output[0]};
    return convolve(call, &work);
}

// --- the gradient of the weights ------------------------------------------------------------------------------------

// Sums of the gradient's channels over one image, rows first, which keeps the rounding error small.
static void add_bias(const job *work, const float *grad, float *sums)
{
    int outputs = work->plan.outputs, out_w = work->plan.out_w;
    for (int y = 0; y < work->plan.out_h; y++)
        for (int k = 0; k < outputs; k += HEDDLE_CPU_PANEL) {
            float row[HEDDLE_CPU_PANEL] = {0};
            for (int x = 0; x < out_w; x++)
                for (int lane = 0; lane < HEDDLE_CPU_PANEL; lane++)
                    row[lane] += grad[((size_t)y * out_w + x) * outputs + k + lane];
            for (int lane = 0; lane < HEDDLE_CPU_PANEL; lane++)
                sums[k + lane] += row[lane];
        }
}

static void backward_weight_piece(void *context, size_t begin, size_t end, int piece, int worker)
{
    const job *work = context;
    const heddle_direct *plan = &work->plan;
    worker_part part = worker_of(work, worker);
    heddle_image_layout layout = output_layout(plan);
    float *sums = work->space.parts + piece * plan->weights;
    float *bias_sums = work->space.bias_parts + (size_t)piece * plan->outputs;
    memset(sums, 0, sizeof(float) * plan->weights);
    memset(bias_sums, 0, sizeof(float) * plan->outputs);
    for (size_t n = begin; n < end; n++) {
        load_image(work, &part, n);
        heddle_image_gather(work->kernels, &layout, work->grad_output + n * heddle_image_elements(&layout),
                            plan->outputs, part.output);
        heddle_direct_backward_weight(plan, work->kernels, part.image, part.output,
                                      (ptrdiff_t)plan->out_w * plan->outputs, sums);
        if (work->grad_bias)
            add_bias(work, part.output, bias_sums);
    }
}

static void add_parts_of_panel(void *context, int panel, int worker)
{
    const job *work = context;
    (void)worker;
    heddle_direct_add_parts(&work->plan, work->space.parts, work->pieces, panel, work->grad_weight);
}

static void plan_pieces(job *work)
{
    int images = (work->plan.shape.n + MOST_PIECES - 1) / MOST_PIECES;
    work->piece_images = images > LEAST_PIECE ? images : LEAST_PIECE;
    work->pieces = heddle_piece_count((size_t)work->plan.shape.n, (size_t)work->piece_images);
}

size_t heddle_conv2d_backward_weight_cpu_direct_workspace(const void *shape, int threads)
{
    heddle_scratch scratch = {.base = NULL};
    job work = {.plan = heddle_direct_plan(shape)};
    plan_pieces(&work);
    take_workspace(&work.plan, work.pieces, threads, &scratch);
    return scratch.used;
}

heddle_status heddle_conv2d_backward_weight_cpu_direct(const heddle_call *call)
{
    job work = {.plan = heddle_direct_plan(call->shape),
                .kernels = heddle_cpu_kernels_best(),
                .input = call->input[0],
                .grad_output = call->input[1],
                .grad_weight = call->output[0],
                .grad_bias = call->output[1]};
    plan_pieces(&work);
    heddle_scratch scratch = {.base = call->workspace};
    work.space = take_workspace(&work.plan, work.pieces, heddle_pool_threads(call->pool), &scratch);
    heddle_pieces_run(call->pool, (size_t)work.plan.shape.n, (size_t)work.piece_images, backward_weight_piece, &work);
    heddle_pool_run(call->pool, work.plan.outputs / HEDDLE_CPU_PANEL, add_parts_of_panel, &work);
    for (int k = 0; work.grad_bias && k < work.plan.shape.k; k++) {
        double sum = 0;
        for (int piece = 0; piece < work.pieces; piece++)
            sum += (double)work.space.bias_parts[(size_t)piece * work.plan.outputs + k];
        work.grad_bias[k] = (float)sum;
    }
    return HEDDLE_OK;
}
