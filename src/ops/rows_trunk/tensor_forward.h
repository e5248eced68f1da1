// rows_trunk on tensor cores, forward. A warp computes eight windows of eight channels: a lane group has all results of
// one window, four of them in two products, so that pooling needs no exchange. Without pooling it has four windows.
#pragma once

#include "ops/rows_trunk/tensor.h"

// (k, c, r, r) as the right side of products: columns of a filter as the offsets below have them.
template <bool Exact>
__device__ static void load_weights(const tensor_job &job, int index, const float *from, char *shared)
{
    const tensor_stage &stage = job.layout.stage[index];
    const int all = stage.of.k * stage.size.c * stage.taps, r = stage.of.r, even = r + r % 2;
    for_weights(from, all, [&](int i, float weight) {
        unsigned tap, c;
        const unsigned k = heddle_divide(heddle_divide(i, job.by[index].filter, &tap), job.by[index].c, &c);
        const unsigned column =
            index == 0 ? (c * r + tap / r) * even + tap % r : (tap * stage.chunks + c / 8) * 8 + c % 8;
        const int fragment = (k / 8 * stage.steps + column / 16) * TENSOR_FRAGMENT;
        store_element<Exact>(shared + stage.weight + fragment + place_in_right(column % 16, k % 8), stage.weight_lower,
                             weight);
    });
}

// Where each two columns of the first stage, (c, r, r rounded up), are in its input; at the end, anywhere.
__device__ static void set_first_offsets(const tensor_stage &stage, char *shared)
{
    const int r = stage.of.r, pairs = (r + 1) / 2;
#pragma unroll 1
    for (int i = threadIdx.x; i < 8 * stage.steps; i += blockDim.x) {
        const int line = i / pairs;
        ((int *)(shared + stage.offsets))[i] =
            line < stage.size.c * r ? line / r * stage.plane + line % r * stage.pitch + i % pairs * 4 : 0;
    }
}

// Four results of a lane group, of eight channels. Exact: weights have lower halves; from: where the filters begin that
// the lane reads, four in the first stage, where it picks its columns, else two, since it has a row of a matrix
template <bool Exact, bool First>
__device__ static __forceinline__ void convolve(const tensor_job &job, int index, const char *shared, int tile,
                                                const int (&from)[4], tensor_sum<Exact> (&sum)[2])
{
    const tensor_stage &stage = job.layout.stage[index];
    const int lane = threadIdx.x % 32;
    const int *offsets = (const int *)(shared + stage.offsets) + (First ? lane % 4 : lane / 16);
    const char *fragment = shared + stage.weight + tile * stage.steps * TENSOR_FRAGMENT;
    enum { AT_ONCE = Exact && !First ? 1 : 2 }; // steps that load before they multiply: what registers suffice for
    tensor_left<Exact> a[AT_ONCE][2];
    tensor_right<Exact> b[AT_ONCE];
    int at[AT_ONCE]; // of the next steps
#pragma unroll
    for (int s = 0; s < AT_ONCE; s++)
        at[s] = First ? 0 : offsets[s * 2];
#pragma unroll 1
    for (int step = 0; step < stage.steps; step += AT_ONCE, fragment += AT_ONCE * TENSOR_FRAGMENT) {
#pragma unroll
        for (int s = 0; s < AT_ONCE; s++) {
            load_right<Exact>(fragment + s * TENSOR_FRAGMENT, stage.weight_lower, b[s]);
            if constexpr (First) {
#pragma unroll
                for (int i = 0; i < 8; i++)
                    a[s][i / 2 % 2].part[0][i / 4 * 2 + i % 2] =
                        *(const uint32_t *)(shared + from[i % 4] + offsets[(step + s) * 8 + i / 4 * 4]);
            } else {
#pragma unroll
                for (int m = 0; m < 2; m++)
                    load_left<Exact>(shared + from[m] + at[s], job.layout.lower, a[s][m]);
                at[s] = offsets[(step + s + AT_ONCE) * 2]; // there is room behind the last ones
            }
        }
#pragma unroll
        for (int s = 0; s < AT_ONCE; s++)
#pragma unroll
            for (int m = 0; m < 2; m++)
                sum[m].template add<First>(a[s][m], b[s]);
    }
}

// The results of a window of channels `channel` and the next: to the next stage's input, or to the row.
template <typename Element, bool Pairs>
__device__ static __forceinline__ void leave_window(const tensor_job &job, const trunk_operands &on, int index,
                                                    int image, int next, int channel, const float (&value)[2],
                                                    char *shared)
{
    if (index == job.layout.stages - 1)
#pragma unroll
        for (int j = 0; j < 2; j++)
            rows_write((Element *)on.output, image, job.columns, next + channel + j,
                       sizeof(Element) == 1 ? value[j] * rows_byte_unit(job.layout.stage[index].of.function)
                                            : value[j]);
    else
        store_two<Pairs>(shared + next + 2 * channel, job.layout.lower, value[0], value[1]);
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
template <bool Pairs, bool First>
__device__ static __forceinline__ void compute(const tensor_job &job, int index, const char *shared, int tile,
                                               const int (&from)[4], float (&value)[2][4])
{
    constexpr bool Exact = Pairs || First;
    const tensor_stage &stage = job.layout.stage[index];
    tensor_sum<Exact> sum[2];
    convolve<Exact, First>(job, index, shared, tile, from, sum);
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
    const int lane = threadIdx.x % 32, number = group * 8 + lane / 4, last = windows_of(stage) - 1;
    const int channel = tile * 8 + lane % 4 * 2, pitch = stage.size.kept_w, plane = stage.size.kept_h * pitch;
    const int begin = place_of(stage, shared, min(last, First ? number : group * 8 + lane % 8)).here;
    const int right = First ? stage.copy : lane / 8 % 2 * stage.pixel, below = stage.pitch;
    const int from[4] = {begin + (First ? 0 : right), First ? begin + right : begin + right + below, begin + below,
                         begin + below + right};
    float value[2][4], result[2];
    compute<Pairs, First>(job, index, shared, tile, from, value);
    if (number > last)
        return;
    const tensor_place &place = place_of(stage, shared, number);
    kept += channel * plane + place.kept;
#pragma unroll
    for (int j = 0; j < 2; j++) {
        result[j] = channel + j < stage.of.k ? pool_four(stage.of.average, value[j]) : 0.0f;
        if (channel + j < stage.of.k)
            store_window(kept + j * plane, pitch, true, value[j]);
    }
    leave_window<Element, Pairs>(job, on, index, image, place.next, channel, result, shared);
}

// The result in slot `slot` of lane group `row`: `place` of a window.
struct tensor_slot {
    int number, place, y, x;
    bool is_there;
};

__device__ static __forceinline__ tensor_slot slot_at(const tensor_job &job, int index, int group, int row, int first,
                                                      int slot)
{
    const tensor_stage &stage = job.layout.stage[index];
    const int window = stage.of.window;
    tensor_slot at;
    at.number = window == 1 ? (group * TENSOR_ROWS_PER_TURN + slot) * 8 + row : group * 8 + row;
    at.place = window == 1 ? 0 : first + slot;
    at.is_there = at.number < windows_of(stage) && at.place < window * window;
    if (!at.is_there)
        at.number = at.place = 0;
    const int2 begin = window_at(job, index, at.number);
    at.y = begin.y * window + at.place / window, at.x = begin.x * window + at.place % window;
    return at;
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
        int from[4];
#pragma unroll
        for (int slot = 0; slot < (First ? 4 : 2); slot++) {
            const tensor_slot at = First ? slot_at(job, index, group, lane / 4, first, slot)
                                         : slot_at(job, index, group, lane % 8, first, 2 * slot + lane / 8 % 2);
            from[slot] = filter_at(stage, First, at.y, at.x);
        }
        compute<Pairs, First>(job, index, shared, tile, from, value);
#pragma unroll
        for (int slot = 0; slot < 4; slot++) {
            const tensor_slot at = slot_at(job, index, group, lane / 4, first, slot);
            if (!at.is_there)
                continue;
            float result[2];
#pragma unroll
            for (int j = 0; j < 2; j++) {
                if (channel + j < stage.of.k)
                    kept[(channel + j) * plane + at.y * pitch + at.x] = value[j][slot];
                pool[j].add(value[j][slot], at.place);
                result[j] = channel + j < stage.of.k ? pool[j].result(stage.of.average, window) : 0.0f;
            }
            if (at.place == window * window - 1)
                leave_window<Element, Pairs>(job, on, index, image, place_of(stage, shared, at.number).next, channel,
                                             result, shared);
            if (window == 1)
                pool[0] = pool[1] = trunk_pool();
        }
    }
}

template <typename Element, bool Pairs, bool First>
__device__ static __forceinline__ void run_stage(const tensor_job &job, const trunk_operands &on, int index, int image,
                                                 float *kept, char *shared)
{
    const tensor_stage &stage = job.layout.stage[index];
    const int windows = windows_of(stage), each = stage.of.window == 1 ? 8 * TENSOR_ROWS_PER_TURN : 8;
    const int groups = (windows + each - 1) / each;
    const bool is_fast = has_pairs_of_lines(stage, kept);
#pragma unroll 1
    for (int item = threadIdx.x / 32; item < groups * stage.tiles; item += blockDim.x / 32) {
        int group;
        const int tile = few(item, groups, &group);
        if (is_fast)
            take_two_by_two<Element, Pairs, First>(job, on, index, image, kept, group, tile, shared);
        else
            take_group<Element, Pairs, First>(job, on, index, image, kept, group, tile, shared);
    }
}

template <typename Element>
__global__ void __launch_bounds__(32 * TENSOR_MOST_WARPS, 1)
    rows_trunk_forward(const tensor_job job, const trunk_operands on)
{
    constexpr bool Pairs = tensor_has_pairs<Element>;
    extern __shared__ float4 vectors[];
    char *shared = (char *)vectors;
    const tensor_layout &layout = job.layout;
    trunk_clear(shared, layout.bytes);
    __syncthreads();
    set_first_offsets(layout.stage[0], shared);
    for (int i = 0; i < layout.stages; i++) {
        set_windows<false>(job, i, shared);
        if (i > 0)
            set_offsets(layout.stage[i], 2 * layout.stage[i].steps, shared);
    }
    heddle_wait_for_previous();
    heddle_release_next();
    const int64_t begin = *on.cursor;
    int next = on.order[begin + blockIdx.x];
    load_weights<true>(job, 0, on.weight[0], shared);
    for (int i = 1; i < layout.stages; i++)
        load_weights<Pairs>(job, i, on.weight[i], shared);
    for (int i = 0; i < layout.stages; i++)
        for (int k = threadIdx.x; k < layout.stage[i].of.k && on.bias[i]; k += blockDim.x)
            ((float *)(shared + layout.stage[i].bias))[k] = on.bias[i][k];
    for (int image = blockIdx.x; image < job.n; image += gridDim.x) {
        const size_t from = next;
        if (image + (int)gridDim.x < job.n)
            next = on.order[begin + image + gridDim.x];
        float *kept = on.activations + (size_t)image * job.kept;
        load_image(job, on.dataset + from * (job.c * job.h * job.w), shared);
        if (threadIdx.x == 0)
            on.labels[image] = on.dataset_labels[from];
        __syncthreads();
        run_stage<Element, Pairs, true>(job, on, 0, image, kept, shared);
        __syncthreads();
#pragma unroll
        for (int i = 1; i < HEDDLE_ROWS_TRUNK_STAGES; i++) // unrolled, so that sizes are constants of the launch
            if (i < layout.stages) {
                run_stage<Element, Pairs, false>(job, on, i, image, kept + layout.stage[i].size.kept, shared);
                if (i + 1 < layout.stages)
                    __syncthreads();
            }
    }
}
