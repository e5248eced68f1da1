// rows_trunk, rung 1: one image per block at a time, all of its stages in shared memory.
//
// A layer of few channels is too thin for tensor cores, and as an operator of its own it reads and writes more memory
// than it computes. Here a block reads the bytes of an image, and every convolution finds its input in shared memory,
// with the zeros around it. A thread computes a strip of four pixels of several channels: a line of the filter is two
// vectors of input, slid over in registers, and one vector of weights per tap, the same for the whole warp. If a
// convolution has fewer strips than the block has threads, threads share its input channels, and who reads the results
// adds their shares. Each activation is written once, for the way back.
//
// Backward every thread adds up its own taps of its own channels over lines and images, in shared memory; the blocks of
// a part leave their sums, and the last of them to arrive adds them, always in the same order.
//
// Limited by: float32 multiply-adds, and the threads that idle where a stage has less work than threads.

#include "ops/cuda/dependent.h"
#include "ops/cuda/element16.h"
#include "ops/rows_trunk/block.h"
#include "ops/rows_trunk/convolve.h"

struct trunk_job {
    int n, c, h, w;
    int kept, channels, columns; // of a row of activations; of the output
    int part, blocks;            // backward: images of a part, and blocks that share them
    heddle_divisor image_w, image_h;
    trunk_divisors by[HEDDLE_ROWS_TRUNK_STAGES];
    trunk_layout layout;
    trunk_left left;
};

// (k, c, r, r) as convolve() takes it, or spread(). Elsewhere there is zero.
template <bool Backward>
__device__ static void load_weights(const trunk_stage &stage, const trunk_divisors &by, const float *from, float *to)
{
    const int taps = stage.of.r * stage.of.r, all = stage.of.k * stage.size.c * taps;
    const int room = !Backward && stage.forward.group > 4 ? 8 : 4;
#pragma unroll 4
    for (int i = threadIdx.x; i < all; i += TRUNK_THREADS) {
        unsigned tap, c, place;
        const unsigned k = heddle_divide(heddle_divide(i, by.filter, &tap), by.c, &c);
        const unsigned group = heddle_divide(Backward ? c : k, Backward ? by.back_group : by.group, &place);
        const unsigned pitch = Backward ? stage.backward.pitch : stage.size.c * taps * room;
        to[group * pitch + ((Backward ? k : c) * taps + tap) * room + place] = __ldg(from + i);
    }
}

__device__ static void load_image(const trunk_job &job, const trunk_stage &first, const uint8_t *pixels, float *to)
{
    const int all = job.c * job.h * job.w, padding = first.of.padding;
#pragma unroll 4
    for (int i = threadIdx.x; i < all; i += TRUNK_THREADS) {
        unsigned x, y;
        const unsigned c = heddle_divide(heddle_divide(i, job.image_w, &x), job.image_h, &y);
        to[c * first.forward.plane + (y + padding) * first.forward.pitch + x + padding] =
            __ldg(pixels + i) * (1.0f / 255.0f);
    }
}

// --- windows --------------------------------------------------------------------------------------------------------

// The window that a thread has of a stage: (k, next_h, next_w).
struct trunk_window {
    int k, y, x;
    int first; // where it begins in the stage's activations
};

__device__ static __forceinline__ trunk_window window_at(const trunk_job &job, int index, int number)
{
    const trunk_stage &stage = job.layout.stage[index];
    const heddle_trunk_size &size = stage.size;
    unsigned x, y;
    trunk_window at;
    at.k = (int)heddle_divide(heddle_divide(number, job.by[index].next_w, &x), job.by[index].next_h, &y);
    at.y = (int)y, at.x = (int)x;
    at.first = (at.k * size.kept_h + at.y * stage.of.window) * size.kept_w + at.x * stage.of.window;
    return at;
}

__device__ static __forceinline__ int windows_of(const trunk_stage &stage)
{
    return stage.of.k * stage.size.next_h * stage.size.next_w;
}

// Where the next stage's input has a pixel of this one's.
__device__ static __forceinline__ int place_in_next(const trunk_stage &next, const trunk_window &at)
{
    return at.k * next.forward.plane + (at.y + next.of.padding) * next.forward.pitch + at.x + next.of.padding;
}

// --- forward --------------------------------------------------------------------------------------------------------

// Adds the shares of a convolution, applies what follows it, and writes the results to `kept`; those of the windows to
// the next stage's input, or to the row. Exact: float32 is what the results are for; Window: 0 if not known at compile
// time.
template <bool Exact, int Window>
__device__ static void finish_windows(const trunk_job &job, int index, float *shared, float *kept)
{
    const trunk_stage &stage = job.layout.stage[index];
    const bool is_last = index == job.layout.stages - 1;
    const trunk_stage &next = job.layout.stage[is_last ? index : index + 1];
    const int window = Window > 0 ? Window : stage.of.window, count = windows_of(stage);
    const bool aligned = aligned8(kept);
    const int pitch = TRUNK_STRIP * stage.forward.strips, plane = stage.size.out_h * pitch, share = stage.of.k * plane;
    for (int i = threadIdx.x; i < count; i += TRUNK_THREADS) {
        const trunk_window at = window_at(job, index, i);
        const float *from = shared + job.layout.shares + at.k * plane + at.y * window * pitch + at.x * window;
        const float bias = shared[stage.bias + at.k];
        float two_by_two[4];
        trunk_pool pool;
#pragma unroll
        for (int place = 0; place < window * window; place++) {
            const int line = place / window, pixel = place % window;
            float z = bias;
            for (int split = 0; split < stage.forward.splits; split++)
                z += from[split * share + line * pitch + pixel];
            const float y = Exact ? rows_function(stage.of.function, z) : rows_function16(stage.of.function, z);
            if (Window == 2)
                two_by_two[place % 4] = y;
            else
                kept[at.first + line * stage.size.kept_w + pixel] = y;
            pool.add(y, place);
        }
        if (Window == 2)
            store_window(kept + at.first, stage.size.kept_w, aligned, two_by_two);
        if (is_last)
            shared[job.layout.row + (at.y * stage.size.next_w + at.x) * job.channels + at.k] =
                pool.result(stage.of.average, window);
        else
            shared[next.input + place_in_next(next, at)] = pool.result(stage.of.average, window);
    }
}

template <bool Exact> __device__ static void finish_stage(const trunk_job &job, int index, float *shared, float *kept)
{
    const int window = job.layout.stage[index].of.window;
    if (window == 2)
        finish_windows<Exact, 2>(job, index, shared, kept);
    else if (window == 1)
        finish_windows<Exact, 1>(job, index, shared, kept);
    else
        finish_windows<Exact, 0>(job, index, shared, kept);
}

template <typename Element>
__global__ void __launch_bounds__(TRUNK_THREADS, TRUNK_FORWARD_BLOCKS)
    rows_trunk_forward(const trunk_job job, const trunk_operands on)
{
    enum { EXACT = sizeof(Element) == sizeof(rows_pair) };
    extern __shared__ float4 vectors[];
    float *shared = (float *)vectors;
    const trunk_layout &layout = job.layout;
    trunk_clear(shared, layout.floats * sizeof(float));
    heddle_wait_for_previous();
    heddle_release_next();
    const int64_t begin = *on.cursor;
    __syncthreads();
    for (int i = 0; i < layout.stages; i++) {
        load_weights<false>(layout.stage[i], job.by[i], on.weight[i], shared + layout.stage[i].weight);
        for (int k = threadIdx.x; k < layout.stage[i].of.k && on.bias[i]; k += TRUNK_THREADS)
            shared[layout.stage[i].bias + k] = on.bias[i][k];
    }
    for (int image = blockIdx.x; image < job.n; image += gridDim.x) {
        const size_t from = on.order[begin + image];
        float *kept = on.activations + (size_t)image * job.kept;
        load_image(job, layout.stage[0], on.dataset + from * (job.c * job.h * job.w), shared + layout.stage[0].input);
        if (threadIdx.x == 0)
            on.labels[image] = on.dataset_labels[from];
        __syncthreads();
        for (int i = 0; i < layout.stages; i++) {
            const trunk_stage &stage = layout.stage[i];
            convolve(stage, job.by[i], shared + stage.input, shared + stage.weight, shared + layout.shares);
            __syncthreads();
            finish_stage<EXACT>(job, i, shared, kept + stage.size.kept);
            __syncthreads();
        }
        for (int i = threadIdx.x; i < job.columns; i += TRUNK_THREADS)
            rows_write((Element *)on.output, image, job.columns, i, shared[layout.row + i]);
    }
}

// --- backward -------------------------------------------------------------------------------------------------------

// The pooled activations of stage `index`, as the input of the next. Window: 0 if not known at compile time.
template <int Window>
__device__ static void load_pooled(const trunk_job &job, int index, const float *kept, float *shared)
{
    const trunk_stage &stage = job.layout.stage[index], &next = job.layout.stage[index + 1];
    const int window = Window > 0 ? Window : stage.of.window, count = windows_of(stage);
    const bool aligned = aligned8(kept);
#pragma unroll 4
    for (int i = threadIdx.x; i < count; i += TRUNK_THREADS) {
        const trunk_window at = window_at(job, index, i);
        float two_by_two[4];
        trunk_pool pool;
        if (Window == 2)
            load_window(kept + at.first, stage.size.kept_w, aligned, two_by_two);
#pragma unroll
        for (int place = 0; place < window * window; place++) {
            const int line = place / window, pixel = place % window;
            pool.add(Window == 2 ? two_by_two[place % 4] : __ldg(kept + at.first + line * stage.size.kept_w + pixel),
                     place);
        }
        shared[next.input + place_in_next(next, at)] = pool.result(stage.of.average, window);
    }
}

// The gradient of a window's result: from the image's row, or the shares that the next stage has left.
template <typename Element>
__device__ static __forceinline__ float gradient_of(const trunk_job &job, int index, const trunk_window &at,
                                                    const Element *rows, int image, const float *shared)
{
    const trunk_stage &stage = job.layout.stage[index];
    if (index == job.layout.stages - 1)
        return rows_read(rows, image, job.columns, (at.y * stage.size.next_w + at.x) * job.channels + at.k);
    return sum_of_strips(job.layout.stage[index + 1], shared + job.layout.shares, at.k, at.y, at.x);
}

// The gradient of a stage's convolution, among zeros: through pooling and function. Window: 0 if not known at compile
// time.
template <typename Element, int Window>
__device__ static void spread_windows(const trunk_job &job, int index, const float *kept, const Element *rows,
                                      int image, float *shared)
{
    const trunk_stage &stage = job.layout.stage[index];
    const int window = Window > 0 ? Window : stage.of.window, count = windows_of(stage);
    const float share = stage.of.average ? 1.0f / (window * window) : 1.0f;
    const bool aligned = aligned8(kept);
#pragma unroll 2
    for (int i = threadIdx.x; i < count; i += TRUNK_THREADS) {
        const trunk_window at = window_at(job, index, i);
        float two_by_two[4];
        if (Window == 2)
            load_window(kept + at.first, stage.size.kept_w, aligned, two_by_two);
        const float gradient = share * gradient_of(job, index, at, rows, image, shared);
        float *to =
            shared + job.layout.gradient + at.k * stage.sums.plane + at.y * window * stage.sums.pitch + at.x * window;
        trunk_pool pool;
#pragma unroll
        for (int place = 0; place < window * window; place++) {
            const int line = place / window, pixel = place % window;
            const float y =
                Window == 2 ? two_by_two[place % 4] : __ldg(kept + at.first + line * stage.size.kept_w + pixel);
            if (stage.of.average)
                to[line * stage.sums.pitch + pixel] = gradient * rows_slope(stage.of.function, y);
            pool.add(y, place);
        }
        if (!stage.of.average)
            to[pool.winner / window * stage.sums.pitch + pool.winner % window] =
                gradient * rows_slope(stage.of.function, pool.most);
    }
}

template <typename Element>
__device__ static void spread_gradient(const trunk_job &job, int index, const float *kept, const Element *rows,
                                       int image, float *shared)
{
    const int window = job.layout.stage[index].of.window;
    if (window == 2)
        spread_windows<Element, 2>(job, index, kept, rows, image, shared);
    else if (window == 1)
        spread_windows<Element, 1>(job, index, kept, rows, image, shared);
    else
        spread_windows<Element, 0>(job, index, kept, rows, image, shared);
}

// Adds the gradient of each channel to its sum, one warp per channel.
__device__ static void add_bias_gradient(const trunk_stage &stage, const float *gradient, float *sums)
{
    const int lane = threadIdx.x % 32;
    for (int k = threadIdx.x / 32; k < stage.of.k; k += TRUNK_THREADS / 32) {
        const float4 *from = (const float4 *)(gradient + k * stage.sums.plane);
        float sum = 0;
        for (int i = lane; i < stage.sums.plane / 4; i += 32) {
            const float4 four = from[i];
            sum += four.x + four.y + (four.z + four.w);
        }
        for (int step = 16; step > 0; step /= 2)
            sum += __shfl_down_sync(0xffffffffu, sum, step);
        if (lane == 0)
            sums[k] += sum;
    }
}

// All gradients of one image, added to the block's sums.
template <typename Element>
__device__ static void add_image(const trunk_job &job, const trunk_operands &on, int image, size_t from, float *shared)
{
    const trunk_layout &layout = job.layout;
    const float *kept = on.activations + (size_t)image * job.kept;
    load_image(job, layout.stage[0], on.dataset + from * (job.c * job.h * job.w), shared + layout.stage[0].input);
    for (int i = 0; i + 1 < layout.stages; i++)
        if (layout.stage[i].of.window == 2)
            load_pooled<2>(job, i, kept + layout.stage[i].size.kept, shared);
        else
            load_pooled<0>(job, i, kept + layout.stage[i].size.kept, shared);
    for (int i = layout.stages - 1; i >= 0; i--) {
        const trunk_stage &stage = layout.stage[i];
        float *gradient = shared + layout.gradient;
        trunk_clear(gradient, stage.sums.groups * stage.sums.group * stage.sums.plane * sizeof(float));
        __syncthreads();
        spread_gradient(job, i, kept + stage.size.kept, (const Element *)on.grad_output, image, shared);
        __syncthreads();
        add_bias_gradient(stage, gradient, shared + stage.bias);
        add_weight_gradient(stage, job.by[i], shared + stage.input, gradient, shared + stage.slots);
        if (i > 0)
            spread(stage, job.by[i], gradient, shared + stage.weight, shared + layout.shares);
        __syncthreads();
    }
}

// The block's sums, (k, c, r, r) and k of each stage.
__device__ static void leave_sums(const trunk_job &job, const float *shared, float *to)
{
    const trunk_layout &layout = job.layout;
    for (int s = 0; s < layout.stages; s++) {
        const trunk_stage &stage = layout.stage[s];
        const int weights = job.left.stage[s].weights, all = weights + stage.of.k;
        for (int i = threadIdx.x; i < (all + 3) / 4 * 4; i += TRUNK_THREADS)
            to[job.left.stage[s].begin + i] = i < weights ? sum_of_slots(stage, job.by[s], shared + stage.slots, i)
                                              : i < all   ? shared[stage.bias + i - weights]
                                                          : 0.0f;
    }
}

template <typename Element>
__global__ void __launch_bounds__(TRUNK_THREADS, TRUNK_BACKWARD_BLOCKS)
    rows_trunk_backward(const trunk_job job, const trunk_operands on)
{
    extern __shared__ float4 vectors[];
    float *shared = (float *)vectors;
    const trunk_layout &layout = job.layout;
    trunk_clear(shared, layout.floats * sizeof(float));
    heddle_wait_for_previous();
    heddle_release_next();
    const int64_t begin = *on.cursor;
    __syncthreads();
    for (int i = 1; i < layout.stages; i++)
        load_weights<true>(layout.stage[i], job.by[i], on.weight[i], shared + layout.stage[i].weight);
    const int part = blockIdx.x / job.blocks, block = blockIdx.x % job.blocks;
    const int end = min(job.n, (part + 1) * job.part);
    for (int image = part * job.part + block; image < end; image += job.blocks)
        add_image<Element>(job, on, image, on.order[begin + image], shared);
    __syncthreads();
    leave_sums(job, shared, on.left + (size_t)blockIdx.x * job.left.floats);
    arrive_and_add(job.left, on, part, job.blocks);
}

// --- launchers ------------------------------------------------------------------------------------------------------

static trunk_job job_of(const trunk_shape *shape, bool is_backward)
{
    trunk_job job = {};
    job.n = shape->n, job.c = shape->c, job.h = shape->h, job.w = shape->w;
    job.kept = heddle_trunk_kept(shape);
    job.channels = heddle_trunk_channels(shape);
    job.columns = heddle_trunk_columns(shape);
    job.layout = trunk_layout_of(shape, is_backward);
    job.left = trunk_left_of(shape);
    job.image_w = heddle_divisor_of(job.w), job.image_h = heddle_divisor_of(job.h);
    for (int i = 0; i < job.layout.stages; i++)
        job.by[i] = trunk_divisors_of(&job.layout.stage[i]);
    return job;
}

static void launch_kernel(void (*kernel)(trunk_job, trunk_operands), int blocks, const heddle_call *call,
                          const trunk_job &job, const trunk_operands &on)
{
    const size_t bytes = job.layout.floats * sizeof(float);
    const cudaStream_t stream = heddle_cuda_stream_of(call);
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    heddle_cuda_launch_dependent(kernel, dim3(blocks), dim3(TRUNK_THREADS), bytes, stream, job, on);
}

template <typename Element> static heddle_status forward_with(const heddle_call *call)
{
    const trunk_shape *shape = (const trunk_shape *)call->shape;
    const trunk_job job = job_of(shape, false);
    heddle_cuda_stream_of(call); // makes the device current
    const int most = trunk_blocks_at_once(job.layout.floats * sizeof(float), TRUNK_FORWARD_BLOCKS);
    launch_kernel(rows_trunk_forward<Element>, shape->n < most ? shape->n : most, call, job,
                  trunk_operands_of(call, false));
    return heddle_cuda_launched("01_image_per_block");
}

template <typename Element> static heddle_status backward_with(const heddle_call *call)
{
    const trunk_shape *shape = (const trunk_shape *)call->shape;
    trunk_job job = job_of(shape, true);
    heddle_cuda_stream_of(call); // makes the device current
    job.part = heddle_trunk_part(shape);
    job.blocks = trunk_blocks_per_part(shape, job.layout.floats * sizeof(float), TRUNK_BACKWARD_BLOCKS);
    launch_kernel(rows_trunk_backward<Element>, shape->parts * job.blocks, call, job, trunk_operands_of(call, true));
    return heddle_cuda_launched("01_image_per_block");
}

static heddle_status launch_forward(const heddle_call *call)
{
    return ROWS_WITH_ELEMENT(trunk_shape, forward_with, call);
}

static heddle_status launch_backward(const heddle_call *call)
{
    return ROWS_WITH_ELEMENT(trunk_shape, backward_with, call);
}

HEDDLE_CUDA_RUNG("rows_trunk_forward", "01_image_per_block", launch_forward)
HEDDLE_CUDA_RUNG("rows_trunk_backward", "01_image_per_block", launch_backward)
