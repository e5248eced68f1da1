// rows_norm, rung 1: eight channels per thread, 16 bytes per access.
//
// Forward (forward.h), a thread has eight channels of one output pixel. Backward, it has a window of the input instead.
// Batchnorm's gradient needs two sums over all pixels first (sums.h), so that the windows are read a second time for
// the gradient (backward.h).
//
// A thread keeps its channels, so that factors and addends are computed once. There are separate kernels for windows of
// one pixel and of two by two, for relu and for no function: all their loads are in flight before the first is used.
//
// Limited by: memory bandwidth.

#include "ops/cuda/dependent.h"
#include "ops/cuda/rung.h"
#include "ops/rows_norm/backward.h"
#include "ops/rows_norm/forward.h"

template <typename Element> using norm_kernel = void(const norm_job, const norm_operands<Element>);

// A function known to the compiler saves instructions on a GPU. Where speed does not count, one kernel serves all
// functions (-1), which takes half the time to compile.
#if defined(HEDDLE_SIM_MODULE) || defined(HEDDLE_CUDA_UNOPTIMISED)
#define NORM_KNOWN(function) (-1)
#else
#define NORM_KNOWN(function) (function)
#endif
// Of all kernels of a kind, the one for a shape. pixels: along a side of what one thread has; around: one pixel and
// more operands
#define NORM_PIXEL(kernel, function, around)                                                                           \
    ((around) ? kernel<Element, true, NORM_KNOWN(function), NORM_AROUND>                                               \
              : kernel<Element, true, NORM_KNOWN(function), 1>)
#define NORM_CHOOSE(kernel, shape, pixels, around, aligned)                                                            \
    (!(aligned)      ? kernel<Element, false, -1, 0>                                                                   \
     : (pixels) == 1 ? ((shape)->function == HEDDLE_ROWS_RELU       ? NORM_PIXEL(kernel, HEDDLE_ROWS_RELU, around)     \
                        : (shape)->function == HEDDLE_ROWS_IDENTITY ? NORM_PIXEL(kernel, HEDDLE_ROWS_IDENTITY, around) \
                                                                    : NORM_PIXEL(kernel, -1, around))                  \
     : (pixels) == 2 ? ((shape)->function == HEDDLE_ROWS_RELU ? kernel<Element, true, NORM_KNOWN(HEDDLE_ROWS_RELU), 2> \
                                                              : kernel<Element, true, -1, 2>)                          \
                     : kernel<Element, true, -1, 0>)

// Items (image, down, across, group of channels).
static norm_job job_of(const norm_shape *shape, int down, int across)
{
    norm_job job = {};
    job.shape = *shape;
    job.out_h = heddle_rows_norm_out_h(shape);
    job.out_w = heddle_rows_norm_out_w(shape);
    job.out_columns = shape->flat ? job.out_h * job.out_w * shape->c : shape->c;
    job.groups = heddle_divisor_of(shape->c / ROWS8);
    job.across = heddle_divisor_of(across);
    job.down = heddle_divisor_of(down);
    job.window = heddle_divisor_of(shape->window);
    job.items = (unsigned)((size_t)shape->n * down * across * (shape->c / ROWS8));
    return job;
}

// In one wave: every block computes its channels' factors once.
template <typename Element>
static heddle_status launch_wave(const heddle_call *call, norm_kernel<Element> *kernel, const norm_job &job,
                                 const norm_operands<Element> &on)
{
    const unsigned threads = rows8_threads(job.shape.c), wanted = heddle_ceil_div(job.items, threads);
    int each = 1;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, (int)threads, 0);
    const unsigned most = (unsigned)(heddle_cuda_multiprocessors() * each);
    heddle_cuda_launch_dependent(kernel, dim3(wanted < most ? wanted : most), dim3(threads), 0,
                                 heddle_cuda_stream_of(call), job, on);
    return heddle_cuda_launched("01_vectorised");
}

// One block per multiprocessor, of as many threads as have an item. Blocks (share of the items, slice of the channels).
struct norm_grid {
    unsigned blocks, slices, threads;
};

static norm_grid grid_of(norm_job *job)
{
    const unsigned groups = (unsigned)job->shape.c / ROWS8, slices = heddle_ceil_div(groups, SUMS_GROUPS);
    const unsigned multiprocessors = (unsigned)min(heddle_cuda_multiprocessors(), (int)HEDDLE_ROWS_NORM_BLOCKS);
    const unsigned most = max(1u, multiprocessors / slices), share = heddle_ceil_div(job->items, most * slices);
    const unsigned least = HEDDLE_CUDA_BLOCK, step = HEDDLE_CUDA_BLOCK / 2;
    const unsigned threads = min((unsigned)SUMS_THREADS, max(least, heddle_ceil_div(share, step) * step));
    job->items /= groups; // every block has its channels
    return {min(most, heddle_ceil_div(job->items, threads / heddle_ceil_div(groups, slices))), slices, threads};
}

template <typename Element>
static heddle_status launch_slices(const heddle_call *call, norm_kernel<Element> *kernel, const norm_grid &grid,
                                   const norm_job &job, const norm_operands<Element> &on, size_t shared_bytes)
{
    heddle_cuda_launch_dependent(kernel, dim3(grid.blocks, grid.slices), dim3(grid.threads), shared_bytes,
                                 heddle_cuda_stream_of(call), job, on);
    return heddle_cuda_launched("01_vectorised");
}

template <typename Element> static heddle_status forward_with(const heddle_call *call)
{
    const norm_shape *shape = (const norm_shape *)call->shape;
    norm_operands<Element> on = {};
    on.input = (const Element *)call->input[0];
    on.sums = (const float *)call->input[1];
    on.gamma = (const float *)call->input[2];
    on.beta = (const float *)call->input[3];
    on.add = (const Element *)call->input[4];
    on.output = (Element *)call->output[0];
    on.running_mean = (float *)call->output[1];
    on.running_var = (float *)call->output[2];
    const bool aligned = heddle_aligned16(on.input) && heddle_aligned16(on.add) && heddle_aligned16(on.output);
    const norm_job job =
        job_of(shape, heddle_rows_norm_out_h(shape) + shape->gap, heddle_rows_norm_out_w(shape) + shape->gap);
    if (shape->window <= 2)
        return launch_wave(call, NORM_CHOOSE(rows_norm_forward, shape, shape->window, on.add, aligned), job, on);
    heddle_cuda_launch_dependent(aligned ? rows_norm_pool<Element, true> : rows_norm_pool<Element, false>,
                                 dim3(heddle_ceil_div(job.items, POOL_ITEMS)), dim3(POOL_THREADS), 0,
                                 heddle_cuda_stream_of(call), job, on);
    return heddle_cuda_launched("01_vectorised");
}

template <typename Element> static heddle_status backward_with(const heddle_call *call)
{
    const norm_shape *shape = (const norm_shape *)call->shape;
    norm_operands<Element> on = {};
    on.grad_output = (const Element *)call->input[0];
    on.grad_more = (const Element *)call->input[1];
    on.input = (const Element *)call->input[2];
    on.sums = (const float *)call->input[3];
    on.gamma = (const float *)call->input[4];
    on.beta = (const float *)call->input[5];
    on.add = (const Element *)call->input[6];
    on.output = (Element *)call->output[0];
    on.grad_gamma = (float *)call->output[1];
    on.grad_beta = (float *)call->output[2];
    on.grad_add = (Element *)call->output[3];
    on.parts = (float *)call->workspace;
    const bool aligned = heddle_aligned16(on.grad_output) && heddle_aligned16(on.grad_more) &&
                         heddle_aligned16(on.input) && heddle_aligned16(on.add) && heddle_aligned16(on.output) &&
                         heddle_aligned16(on.grad_add);
    // Pixels of a large mean do not depend on each other, unless their gradients are added.
    const int pixels = aligned && shape->average && shape->window > 2 && !on.grad_add ? 1 : shape->window;
    const bool around = on.add || on.grad_more || on.grad_add;
    int parts = 0;
    if (shape->normalise) {
        const int windows = shape->window / pixels; // items along a side of a window
        norm_job job = job_of(shape, heddle_rows_norm_out_h(shape) * windows, heddle_rows_norm_out_w(shape) * windows);
        const norm_grid grid = grid_of(&job);
        parts = (int)grid.blocks;
        const heddle_status status = launch_slices(call, NORM_CHOOSE(rows_norm_sums, shape, pixels, around, aligned),
                                                   grid, job, on, sums_shared_bytes(grid.threads));
        if (status != HEDDLE_OK)
            return status;
    }
    const int lines = shape->image_rows / shape->pitch;
    norm_job job = job_of(shape, (int)heddle_ceil_div(lines, pixels), (int)heddle_ceil_div(shape->pitch, pixels));
    const norm_grid grid = grid_of(&job);
    job.parts = parts;
    return launch_slices(call, NORM_CHOOSE(rows_norm_backward, shape, pixels, around, aligned), grid, job, on,
                         factors_shared_bytes(grid.threads));
}

static heddle_status launch_forward(const heddle_call *call)
{
    return ROWS_WITH_ANY_ELEMENT(norm_shape, forward_with, call);
}

static heddle_status launch_backward(const heddle_call *call)
{
    return ROWS_WITH_ELEMENT(norm_shape, backward_with, call);
}

HEDDLE_CUDA_RUNG("rows_norm_forward", "01_vectorised", launch_forward)
HEDDLE_CUDA_RUNG("rows_norm_backward", "01_vectorised", launch_backward)
