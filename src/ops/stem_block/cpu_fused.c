// stem_block without ever storing its convolution. Forward: one pass over the input for the moments of its patches,
// from which the statistics of every filter's output follow (mean w·m, variance wᵀ Cov w). Batchnorm is folded into the
// filters, and a second pass computes the convolution in registers, one pooling window at a time, and writes only the
// pooled value and its code. Backward: batchnorm's gradient is linear in sums over the windows' winners of dy and
// dy·patch, and the moments give the rest. Images are centred on their mean, so that nothing is lost by subtracting
// large sums; what a filter's differences cancel is lost (a response whose variance is 10⁻⁷ of the image's is noise).
// Limited by: 36 multiply-adds per window and vector of channels, forward and backward alike.

#include <math.h>
#include <string.h>

#include "base/threads.h"
#include "ops/conv_block/batchnorm.h"
#include "ops/conv_block/layouts.h"
#include "ops/cpu/scratch.h"
#include "ops/pieces.h"
#include "ops/stem_block/moments.h"

typedef heddle_conv_block_shape block_shape;

enum {
    TAPS = HEDDLE_CONV_BLOCK_TAPS,
    PANEL = HEDDLE_CPU_PANEL,
    CENTRE_TAP = 4,   // sees every pixel of its plane once: its mean is the plane's
    LEAST_PIECE = 4,  // images, so that joining pieces costs nothing beside them
    MOST_PIECES = 32, // enough for that many threads
};

static int piece_images(const block_shape *shape)
{
    int images = (shape->n + MOST_PIECES - 1) / MOST_PIECES;
    return images > LEAST_PIECE ? images : LEAST_PIECE;
}

static int piece_count(const block_shape *shape)
{
    return heddle_piece_count(shape->n, piece_images(shape));
}

// --- workspace ------------------------------------------------------------------------------------------------------

typedef struct workspace {
    float *weights;          // (panels, 9c, 16), batchnorm folded in
    float *shift;            // (panels, 16)
    heddle_moments *moments; // one per piece
    double *sums;            // (pieces, panels, 9c + 1, 16): backward
    size_t worker_bytes;
    char *workers;
} workspace;

typedef struct worker_part {
    float *planes;  // (c, h + 2, w + 2)
    float *windows; // (h/2, w/2, outputs)
    float *sums;    // (panels, 9c + 1, 16)
} worker_part;

static int padded_outputs(const block_shape *shape)
{
    return heddle_cpu_round_up(shape->k, PANEL);
}

static size_t sum_count(const block_shape *shape)
{
    return (size_t)padded_outputs(shape) * (heddle_stem_block_patch(shape) + 1);
}

static worker_part take_worker(const block_shape *shape, heddle_scratch *scratch)
{
    worker_part part;
    part.planes = heddle_scratch_floats(scratch, (size_t)shape->c * (shape->h + 2) * (shape->w + 2));
    part.windows = heddle_scratch_floats(scratch, heddle_conv_block_windows(shape) * padded_outputs(shape));
    part.sums = heddle_scratch_floats(scratch, sum_count(shape));
    return part;
}

static workspace take_workspace(const block_shape *shape, int threads, heddle_scratch *scratch)
{
    heddle_scratch one_worker = {.base = NULL};
    take_worker(shape, &one_worker);
    workspace space = {.worker_bytes = one_worker.used};
    space.weights = heddle_scratch_floats(scratch, (size_t)padded_outputs(shape) * heddle_stem_block_patch(shape));
    space.shift = heddle_scratch_floats(scratch, padded_outputs(shape));
    space.moments = heddle_scratch_take(scratch, sizeof(heddle_moments) * piece_count(shape));
    space.sums = heddle_scratch_take(scratch, sizeof(double) * sum_count(shape) * piece_count(shape));
    space.workers = heddle_scratch_take(scratch, space.worker_bytes * threads);
    return space;
}

size_t heddle_stem_block_cpu_fused_workspace(const void *shape, int threads)
{
    heddle_scratch scratch = {.base = NULL};
    take_workspace(shape, threads, &scratch);
    return scratch.used;
}

// --- what the tasks share -------------------------------------------------------------------------------------------

typedef struct job {
    const block_shape *shape;
    const heddle_cpu_kernels *kernels;
    workspace space;
    const float *input;
    float *output;
    uint8_t *code; // NULL: inference
    const float *grad_output;
    const uint8_t *saved_code;
    double centre[HEDDLE_STEM_BLOCK_MOST_CHANNELS]; // subtracted from the pixels, including the border's zeros
} job;

static job start_job(const heddle_call *call)
{
    job work = {.shape = call->shape, .kernels = heddle_cpu_kernels_best()};
    heddle_scratch scratch = {.base = call->workspace};
    work.space = take_workspace(call->shape, heddle_pool_threads(call->pool), &scratch);
    return work;
}

static worker_part worker_of(const job *work, int worker)
{
    heddle_scratch scratch = {.base = work->space.workers + work->space.worker_bytes * worker};
    return take_worker(work->shape, &scratch);
}

// Image n as planes with a border, with `centre` subtracted.
static heddle_cpu_planes load_planes(const job *work, const worker_part *part, int n, const double *centre)
{
    const block_shape *shape = work->shape;
    heddle_image_layout layout = heddle_conv_block_input_layout(shape);
    heddle_cpu_planes image = {
        .data = part->planes,
        .channels = shape->c,
        .height = shape->h,
        .width = shape->w,
        .row = shape->w + 2,
        .plane = (ptrdiff_t)(shape->h + 2) * (shape->w + 2),
    };
    const float *from = work->input + n * heddle_image_elements(&layout);
    ptrdiff_t pixel = shape->input_channels_last ? shape->c : 1;
    ptrdiff_t plane = shape->input_channels_last ? 1 : (ptrdiff_t)shape->h * shape->w;
    for (int c = 0; c < shape->c; c++) {
        float *to = part->planes + c * image.plane, take = (float)centre[c];
        for (ptrdiff_t i = 0; i < image.row; i++)
            to[i] = to[(shape->h + 1) * image.row + i] = -take;
        for (int y = 0; y < shape->h; y++) {
            float *line = to + (y + 1) * image.row;
            const float *pixels = from + c * plane + y * shape->w * pixel;
            line[0] = line[shape->w + 1] = -take;
            for (int x = 0; x < shape->w; x++)
                line[x + 1] = pixels[x * pixel] - take;
        }
    }
    return image;
}

// --- moments --------------------------------------------------------------------------------------------------------

// The mean of image n's channel c, accurate enough to centre on.
static double image_mean(const job *work, int n, int c)
{
    const block_shape *shape = work->shape;
    double total = 0;
    for (int y = 0; y < shape->h; y++) {
        float sum = 0;
        for (int x = 0; x < shape->w; x++)
            sum +=
                work->input[heddle_activation_at(shape->input_channels_last, shape->c, shape->h, shape->w, n, c, y, x)];
        total += (double)sum;
    }
    // As a float: load_planes subtracts exactly this.
    return (double)(float)(total / ((double)shape->h * shape->w));
}

static void moments_of_piece(void *context, size_t begin, size_t end, int piece, int worker)
{
    const job *work = context;
    worker_part part = worker_of(work, worker);
    heddle_moments *total = &work->space.moments[piece], image_moments;
    total->count = 0;
    for (size_t n = begin; n < end; n++) {
        double centre[HEDDLE_STEM_BLOCK_MOST_CHANNELS];
        for (int c = 0; c < work->shape->c; c++)
            centre[c] = image_mean(work, (int)n, c);
        heddle_cpu_planes image = load_planes(work, &part, (int)n, centre);
        heddle_moments_of_image(work->kernels, &image, centre, &image_moments);
        heddle_moments_join(total, &image_moments, heddle_stem_block_patch(work->shape));
    }
}

// --- forward and inference ------------------------------------------------------------------------------------------

static void forward_image(void *context, int n, int worker)
{
    const job *work = context;
    const block_shape *shape = work->shape;
    worker_part part = worker_of(work, worker);
    heddle_image_layout layout = heddle_conv_block_output_layout(shape);
    size_t windows_count = heddle_conv_block_windows(shape) * shape->k;
    heddle_cpu_planes image = load_planes(work, &part, n, work->centre);
    int channels = layout.channels_last ? shape->k : padded_outputs(shape);
    heddle_cpu_extent windows = heddle_conv_block_windows_extent(shape, channels);
    float *output = work->output + n * windows_count;
    work->kernels->stem_forward(&image, work->space.weights, work->space.shift,
                                layout.channels_last ? output : part.windows, &windows,
                                work->code ? work->code + n * windows_count : NULL);
    if (!layout.channels_last)
        heddle_image_spread(work->kernels, &layout, part.windows, channels, NULL, output);
}

// Filter k of the packed weights, with batchnorm folded in. `centre_response` is the filter's response to the centre.
static void fold_filter(const job *work, const float *weight, int k, heddle_channel_affine affine)
{
    int patch = heddle_stem_block_patch(work->shape);
    float *to = work->space.weights + (size_t)(k / PANEL) * patch * PANEL + k % PANEL;
    double centre_response = 0;
    for (int d = 0; d < patch; d++) {
        double folded = affine.scale * (double)weight[(size_t)k * patch + d];
        to[d * PANEL] = (float)folded;
        centre_response += folded * work->centre[d / TAPS];
    }
    work->space.shift[k] = (float)(affine.shift + centre_response);
}

static void clear_folded(const job *work)
{
    int outputs = padded_outputs(work->shape);
    memset(work->space.weights, 0, sizeof(float) * outputs * heddle_stem_block_patch(work->shape));
    memset(work->space.shift, 0, sizeof(float) * outputs);
}

heddle_status heddle_stem_block_cpu_fused_forward(const heddle_call *call)
{
    const block_shape *shape = call->shape;
    heddle_conv_block_forward_operands operands = heddle_stem_block_forward_unpack(call);
    job work = start_job(call);
    int patch = heddle_stem_block_patch(shape);
    work.input = operands.input;
    work.output = operands.output;
    work.code = operands.code;

    heddle_pieces_run(call->pool, shape->n, piece_images(shape), moments_of_piece, &work);
    for (int piece = 1; piece < piece_count(shape); piece++)
        heddle_moments_join(&work.space.moments[0], &work.space.moments[piece], patch);
    HEDDLE_TRY(heddle_moments_share(call, &work.space.moments[0], patch));
    heddle_moments_save(&work.space.moments[0], patch, operands.moments);

    for (int c = 0; c < shape->c; c++)
        work.centre[c] = (double)(float)operands.moments[c * TAPS + CENTRE_TAP];
    clear_folded(&work);
    for (int k = 0; k < shape->k; k++) {
        const float *filter = operands.weight + (size_t)k * patch;
        double covariance[HEDDLE_STEM_BLOCK_MOST_PATCH], variance = 0;
        heddle_moments_filter_covariance(operands.moments, patch, filter, covariance);
        for (int d = 0; d < patch; d++)
            variance += covariance[d] * (double)filter[d];
        heddle_channel_statistics statistics = {
            .mean = heddle_moments_filter_mean(operands.moments, patch, filter),
            .variance = variance < 0 ? 0 : variance, // rounding; NaN is preserved
        };
        fold_filter(&work, operands.weight, k, heddle_batchnorm_training(shape, &operands, k, statistics));
        heddle_batchnorm_save(shape, &operands, k, statistics, work.space.moments[0].count);
    }
    heddle_pool_run(call->pool, shape->n, forward_image, &work);
    return HEDDLE_OK;
}

heddle_status heddle_stem_block_cpu_fused_inference(const heddle_call *call)
{
    const block_shape *shape = call->shape;
    heddle_conv_block_inference_operands operands = heddle_conv_block_inference_unpack(call);
    job work = start_job(call);
    work.input = operands.input;
    work.output = operands.output;
    clear_folded(&work);
    for (int k = 0; k < shape->k; k++)
        fold_filter(&work, operands.weight, k, heddle_batchnorm_inference(shape, &operands, k));
    heddle_pool_run(call->pool, shape->n, forward_image, &work);
    return HEDDLE_OK;
}

// --- backward -------------------------------------------------------------------------------------------------------

static void backward_piece(void *context, size_t begin, size_t end, int piece, int worker)
{
    const job *work = context;
    const block_shape *shape = work->shape;
    worker_part part = worker_of(work, worker);
    heddle_image_layout layout = heddle_conv_block_output_layout(shape);
    int channels = layout.channels_last ? shape->k : padded_outputs(shape);
    heddle_cpu_extent windows = heddle_conv_block_windows_extent(shape, channels);
    size_t windows_count = heddle_conv_block_windows(shape) * shape->k, count = sum_count(shape);
    double *total = work->space.sums + piece * count;
    memset(total, 0, sizeof(double) * count);
    for (size_t n = begin; n < end; n++) {
        heddle_cpu_planes image = load_planes(work, &part, (int)n, work->centre);
        const float *grad = work->grad_output + n * windows_count;
        if (!layout.channels_last) {
            heddle_image_gather(work->kernels, &layout, grad, channels, part.windows);
            grad = part.windows;
        }
        memset(part.sums, 0, sizeof(float) * count);
        work->kernels->stem_backward(&image, grad, &windows, work->saved_code + n * windows_count, part.sums);
        for (size_t i = 0; i < count; i++)
            total[i] += (double)part.sums[i];
    }
}

// With G = Σ dy (x - m) over the winners: dγ = w·G / σ, and dw = γ/σ (G - dγ/σ Cov w).
static void finish_filter(const job *work, const heddle_conv_block_backward_operands *operands, int k)
{
    int patch = heddle_stem_block_patch(work->shape);
    const float *filter = operands->weight + (size_t)k * patch;
    const double *sums = work->space.sums + (size_t)(k / PANEL) * (patch + 1) * PANEL + k % PANEL;
    double inverse_std = (double)operands->inverse_std[k], grad_gamma = 0, grad_beta = sums[patch * PANEL];
    double centred[HEDDLE_STEM_BLOCK_MOST_PATCH], covariance[HEDDLE_STEM_BLOCK_MOST_PATCH];
    heddle_moments_filter_covariance(operands->moments, patch, filter, covariance);
    for (int d = 0; d < patch; d++) {
        centred[d] = sums[d * PANEL] - (operands->moments[d] - work->centre[d / TAPS]) * grad_beta;
        grad_gamma += inverse_std * (double)filter[d] * centred[d];
    }
    for (int d = 0; d < patch; d++)
        operands->grad_weight[(size_t)k * patch + d] =
            (float)((double)operands->gamma[k] * inverse_std * (centred[d] - grad_gamma * inverse_std * covariance[d]));
    operands->grad_gamma[k] = (float)grad_gamma;
    operands->grad_beta[k] = (float)grad_beta;
    if (operands->grad_bias)
        operands->grad_bias[k] = 0; // batchnorm subtracts whatever the bias adds
}

heddle_status heddle_stem_block_cpu_fused_backward(const heddle_call *call)
{
    const block_shape *shape = call->shape;
    heddle_conv_block_backward_operands operands = heddle_stem_block_backward_unpack(call);
    job work = start_job(call);
    work.input = operands.input;
    work.grad_output = operands.grad_output;
    work.saved_code = operands.code;
    for (int c = 0; c < shape->c; c++)
        work.centre[c] = (double)(float)operands.moments[c * TAPS + CENTRE_TAP];

    heddle_pieces_run(call->pool, shape->n, piece_images(shape), backward_piece, &work);
    size_t count = sum_count(shape);
    for (int piece = 1; piece < piece_count(shape); piece++)
        for (size_t i = 0; i < count; i++)
            work.space.sums[i] += work.space.sums[piece * count + i];
    for (int k = 0; k < shape->k; k++)
        finish_filter(&work, &operands, k);
    return HEDDLE_OK;
}
