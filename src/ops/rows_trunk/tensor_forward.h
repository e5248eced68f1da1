// rows_trunk on tensor cores, forward. A warp computes eight windows of eight channels: a lane group has all results of
// one window, four of them in two products, so that pooling needs no exchange. Without pooling it has four windows.
#pragma once

#include "ops/rows_trunk/tensor.h"

// (k, c, r, r) as the right side of products: columns of a filter as the offsets below have them.
template <bool Pairs>
__device__ static void load_weights(const tensor_job &job, int index, const float *from, char *shared)
{
    const tensor_stage &stage = job.layout.stage[index];
    const int all = stage.of.k * stage.size.c * stage.taps, r = stage.of.r, even = r + r % 2;
#pragma unroll 4
    for (int i = threadIdx.x; i < all; i += TENSOR_THREADS) {
        unsigned tap, c;
        const unsigned k = heddle_divide(heddle_divide(i, job.by[index].filter, &tap), job.by[index].c, &c);
        const unsigned column =
            index == 0 ? (c * r + tap / r) * even + tap % r : (tap * stage.chunks + c / 8) * 8 + c % 8;
        const int fragment = (k / 8 * stage.steps + column / 16) * TENSOR_FRAGMENT;
        store_element<Pairs>(shared + stage.weight + fragment + place_in_right(column % 16, k % 8), job.layout.lower,
                             __ldg(from + i));
    }
}

// Of each two columns of the first stage, or eight of the others. Where there is none, the weights are zero.
__device__ static void set_offsets(const tensor_job &job, int index, char *shared)
{
    const tensor_stage &stage = job.layout.stage[index];
    int *offsets = (int *)(shared + stage.offsets);
    const int r = stage.of.r, pairs = (r + 1) / 2;
    for (int i = threadIdx.x; i < stage.steps * (index == 0 ? 8 : 2); i += TENSOR_THREADS) {
        const int line = index == 0 ? i / pairs : 0, tap = i / stage.chunks;
        if (index == 0)
            offsets[i] = line < stage.size.c * r ? line / r * stage.plane + line % r * stage.pitch + i % pairs * 4 : 0;
        else
            offsets[i] = tap < stage.taps ? tap / r * stage.pitch + tap % r * stage.pixel + i % stage.chunks * 16 : 0;
    }
}

// The result in slot `slot` of lane group `row`: `place` of a window.
struct tensor_slot {
    tensor_window window;
    int place;
    bool is_there;
};

template <int Window>
__device__ static __forceinline__ tensor_slot slot_at(const tensor_job &job, int index, int group, int row, int first,
                                                      int slot)
{
    const tensor_stage &stage = job.layout.stage[index];
    const int window = Window > 0 ? Window : stage.of.window;
    const int number = window == 1 ? (group * TENSOR_ROWS_PER_TURN + slot) * 8 + row : group * 8 + row;
    tensor_slot at;
    at.place = window == 1 ? 0 : first + slot;
    at.is_there = number < windows_of(stage) && at.place < window * window;
    at.window = window_at(job, index, at.is_there ? number : 0);
    at.place = at.is_there ? at.place : 0;
    return at;
}

// Where the filter of a result begins in the input.
template <bool First, int Window>
__device__ static __forceinline__ int filter_at(const tensor_stage &stage, const tensor_slot &slot)
{
    const int window = Window > 0 ? Window : stage.of.window;
    const int y = slot.window.y * window + slot.place / window, x = slot.window.x * window + slot.place % window;
    return stage.input + y * stage.pitch + (First ? x / 2 * 4 + x % 2 * stage.copy : x * stage.pixel);
}

// Four results of a lane group, of eight channels.
template <bool Pairs, bool First, int Window>
__device__ static __forceinline__ void convolve(const tensor_job &job, int index, const char *shared, int group,
                                                int tile, int first, tensor_sum<Pairs> (&sum)[2])
{
    const tensor_stage &stage = job.layout.stage[index];
    const int lane = threadIdx.x % 32, lower = job.layout.lower;
    const int *offsets = (const int *)(shared + stage.offsets);
    const char *fragment = shared + stage.weight + tile * stage.steps * TENSOR_FRAGMENT;
    enum { STEPS_AT_ONCE = Pairs ? 1 : 4, FIRST_STEPS_AT_ONCE = Pairs ? 1 : 2 }; // what registers suffice for
    tensor_left<Pairs> a[2];
    tensor_right<Pairs> b;
    if constexpr (First) { // each lane picks its columns
        int from[4];
#pragma unroll
        for (int slot = 0; slot < 4; slot++)
            from[slot] = filter_at<First, Window>(stage, slot_at<Window>(job, index, group, lane / 4, first, slot));
#pragma unroll FIRST_STEPS_AT_ONCE
        for (int step = 0; step < stage.steps; step++, fragment += TENSOR_FRAGMENT) {
            load_right<Pairs>(fragment, lower, b);
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const int offset = offsets[step * 8 + i / 2 * 4 + lane % 4];
#pragma unroll
                for (int m = 0; m < 2; m++)
                    a[m].part[0][i] = *(const uint32_t *)(shared + from[2 * m + i % 2] + offset);
            }
#pragma unroll
            for (int m = 0; m < 2; m++)
                sum[m].template add<true>(a[m], b);
        }
    } else { // each lane has a row of a matrix
        int from[2];
#pragma unroll
        for (int m = 0; m < 2; m++)
            from[m] = filter_at<First, Window>(
                stage, slot_at<Window>(job, index, group, lane % 8, first, 2 * m + lane / 8 % 2));
#pragma unroll STEPS_AT_ONCE
        for (int step = 0; step < stage.steps; step++, fragment += TENSOR_FRAGMENT) {
            const int offset = offsets[step * 2 + lane / 16];
            load_right<Pairs>(fragment, lower, b);
#pragma unroll
            for (int m = 0; m < 2; m++) {
                load_left<Pairs>(shared + from[m] + offset, lower, a[m]);
                sum[m].template add<false>(a[m], b);
            }
        }
    }
}

// The results of a window of channels `channel` and the next: to the next stage's input, or to the row.
template <typename Element, bool Pairs>
__device__ static __forceinline__ void leave_window(const tensor_job &job, const trunk_operands &on, int index,
                                                    int image, const tensor_window &at, int channel,
                                                    const float (&value)[2], char *shared)
{
    if (index == job.layout.stages - 1) {
        const int column = (at.y * job.layout.stage[index].size.next_w + at.x) * job.channels + channel;
#pragma unroll
        for (int j = 0; j < 2; j++)
            rows_write((Element *)on.output, image, job.columns, column + j, value[j]);
    } else {
        store_two<Pairs>(shared + place_in_input(job.layout.stage[index + 1], at) + 2 * channel, job.layout.lower,
                         value[0], value[1]);
    }
}

// The function of a stage, of all results of a lane: one branch for all. value: (channels, slots)
template <bool Pairs, int Function> __device__ static __forceinline__ void apply(float (&value)[2][4])
{
#pragma unroll
    for (int i = 0; i < 8; i++)
        value[i / 4][i % 4] =
            Pairs ? rows_function(Function, value[i / 4][i % 4]) : rows_function16(Function, value[i / 4][i % 4]);
}

template <bool Pairs> __device__ static __forceinline__ void apply_function(int function, float (&value)[2][4])
{
    switch (function) {
    case HEDDLE_ROWS_RELU: return apply<Pairs, HEDDLE_ROWS_RELU>(value);
    case HEDDLE_ROWS_TANH: return apply<Pairs, HEDDLE_ROWS_TANH>(value);
    case HEDDLE_ROWS_SIGMOID: return apply<Pairs, HEDDLE_ROWS_SIGMOID>(value);
    default: return;
    }
}

// The results of a lane, after the function. value: (channels, slots)
template <bool Pairs, bool First, int Window>
__device__ static __forceinline__ void compute(const tensor_job &job, int index, const char *shared, int group,
                                               int tile, int first, float (&value)[2][4])
{
    const tensor_stage &stage = job.layout.stage[index];
    tensor_sum<Pairs> sum[2];
    convolve<Pairs, First, Window>(job, index, shared, group, tile, first, sum);
    const float2 bias = ((const float2 *)(shared + stage.bias))[tile * 4 + threadIdx.x % 4];
    const float scale = First ? 1.0f / 255.0f : 1.0f;
#pragma unroll
    for (int i = 0; i < 8; i++)
        value[i % 2][i / 2] = sum[i / 4].value(i % 4) * scale + (i % 2 ? bias.y : bias.x);
    apply_function<Pairs>(stage.of.function, value);
}

// Eight windows of two by two, of eight channels.
template <typename Element, bool Pairs, bool First>
__device__ static __forceinline__ void take_two_by_two(const tensor_job &job, const trunk_operands &on, int index,
                                                       int image, float *kept, int group, int tile, char *shared)
{
    const tensor_stage &stage = job.layout.stage[index];
    const int channel = tile * 8 + threadIdx.x % 4 * 2, pitch = stage.size.kept_w, plane = stage.size.kept_h * pitch;
    float value[2][4], result[2];
    compute<Pairs, First, 2>(job, index, shared, group, tile, 0, value);
    const tensor_slot at = slot_at<2>(job, index, group, threadIdx.x % 32 / 4, 0, 0);
    if (!at.is_there)
        return;
    const bool aligned = aligned8(kept);
    kept += channel * plane + 2 * (at.window.y * pitch + at.window.x);
#pragma unroll
    for (int j = 0; j < 2; j++) {
        trunk_pool pool;
#pragma unroll
        for (int slot = 0; slot < 4; slot++)
            pool.add(value[j][slot], slot);
        result[j] = channel + j < stage.of.k ? pool.result(stage.of) : 0.0f;
        if (channel + j < stage.of.k)
            store_window(kept + j * plane, pitch, aligned, value[j]);
    }
    leave_window<Element, Pairs>(job, on, index, image, at.window, channel, result, shared);
}

// Eight windows of any size, or 32 of one result.
template <typename Element, bool Pairs, bool First>
__device__ static __forceinline__ void take_group(const tensor_job &job, const trunk_operands &on, int index, int image,
                                                  float *kept, int group, int tile, char *shared)
{
    const tensor_stage &stage = job.layout.stage[index];
    const int lane = threadIdx.x % 32, window = stage.of.window, pitch = stage.size.kept_w;
    const int channel = tile * 8 + lane % 4 * 2, plane = stage.size.kept_h * pitch;
    trunk_pool pool[2];
    for (int first = 0; first < window * window; first += TENSOR_ROWS_PER_TURN) {
        float value[2][4];
        compute<Pairs, First, 0>(job, index, shared, group, tile, first, value);
#pragma unroll
        for (int slot = 0; slot < 4; slot++) {
            const tensor_slot at = slot_at<0>(job, index, group, lane / 4, first, slot);
            const int y = at.window.y * window + at.place / window, x = at.window.x * window + at.place % window;
            if (!at.is_there)
                continue;
            float result[2];
#pragma unroll
            for (int j = 0; j < 2; j++) {
                if (channel + j < stage.of.k)
                    kept[(channel + j) * plane + y * pitch + x] = value[j][slot];
                pool[j].add(value[j][slot], at.place);
                result[j] = channel + j < stage.of.k ? pool[j].result(stage.of) : 0.0f;
            }
            if (at.place == window * window - 1)
                leave_window<Element, Pairs>(job, on, index, image, at.window, channel, result, shared);
            if (window == 1)
                pool[0] = pool[1] = trunk_pool();
        }
    }
}

template <typename Element, bool Pairs, bool First>
__device__ static void run_stage(const tensor_job &job, const trunk_operands &on, int index, int image, float *kept,
                                 char *shared)
{
    const tensor_stage &stage = job.layout.stage[index];
    const int windows = windows_of(stage), each = stage.of.window == 1 ? 8 * TENSOR_ROWS_PER_TURN : 8;
    const int groups = (windows + each - 1) / each;
    for (int item = threadIdx.x / 32; item < groups * stage.tiles; item += TENSOR_WARPS)
        if (stage.of.window == 2)
            take_two_by_two<Element, Pairs, First>(job, on, index, image, kept, item % groups, item / groups, shared);
        else
            take_group<Element, Pairs, First>(job, on, index, image, kept, item % groups, item / groups, shared);
}

template <typename Element>
__global__ void __launch_bounds__(TENSOR_THREADS, TENSOR_BLOCKS)
    rows_trunk_forward(const tensor_job job, const trunk_operands on)
{
    constexpr bool Pairs = tensor_has_pairs<Element>;
    extern __shared__ float4 vectors[];
    char *shared = (char *)vectors;
    const tensor_layout &layout = job.layout;
    trunk_clear(shared, layout.bytes);
    __syncthreads();
    for (int i = 0; i < layout.stages; i++)
        set_offsets(job, i, shared);
    heddle_wait_for_previous();
    heddle_release_next();
    const int64_t begin = *on.cursor;
    for (int i = 0; i < layout.stages; i++) {
        load_weights<Pairs>(job, i, on.weight[i], shared);
        for (int k = threadIdx.x; k < layout.stage[i].of.k && on.bias[i]; k += TENSOR_THREADS)
            ((float *)(shared + layout.stage[i].bias))[k] = on.bias[i][k];
    }
    for (int image = blockIdx.x; image < job.n; image += gridDim.x) {
        const size_t from = on.order[begin + image];
        float *kept = on.activations + (size_t)image * job.kept;
        load_image(job, on.dataset + from * (job.c * job.h * job.w), shared);
        if (threadIdx.x == 0)
            on.labels[image] = on.dataset_labels[from];
        __syncthreads();
        run_stage<Element, Pairs, true>(job, on, 0, image, kept, shared);
        __syncthreads();
        for (int i = 1; i < layout.stages; i++) {
            run_stage<Element, Pairs, false>(job, on, i, image, kept + layout.stage[i].size.kept, shared);
            if (i + 1 < layout.stages)
                __syncthreads();
        }
    }
}
