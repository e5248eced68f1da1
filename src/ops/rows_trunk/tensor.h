// rows_trunk on tensor cores: products of fp16 elements, or of pairs of them, and the images in shared memory.
#pragma once

#include "ops/cuda/dependent.h"
#include "ops/cuda/division.h"
#include "ops/cuda/element16.h"
#include "ops/cuda/mma.h"
#include "ops/rows_trunk/block.h"
#include "ops/rows_trunk/tensor_layout.h"

struct tensor_divisors {
    heddle_divisor filter, c;       // of weights
    heddle_divisor next_w, windows; // of windows
};

struct tensor_job {
    int n, c, h, w;
    int kept, channels, columns; // of a row of activations; of the output
    int part, blocks;            // backward: images of a part, and blocks that share them
    int warps;                   // of a block
    heddle_divisor image_w, image_h;
    tensor_divisors by[HEDDLE_ROWS_TRUNK_STAGES];
    tensor_layout layout;
    trunk_left left;
};

static inline tensor_job tensor_job_of(const trunk_shape *shape, bool is_backward, int warps)
{
    tensor_job job = {};
    job.n = shape->n, job.c = shape->c, job.h = shape->h, job.w = shape->w;
    job.kept = heddle_trunk_kept(shape);
    job.channels = heddle_trunk_channels(shape);
    job.columns = heddle_trunk_columns(shape);
    job.layout = tensor_layout_of(shape, is_backward, warps);
    job.left = trunk_left_of(shape);
    job.warps = warps;
    job.image_w = heddle_divisor_of(job.w), job.image_h = heddle_divisor_of(job.h);
    for (int i = 0; i < job.layout.stages; i++) {
        const tensor_stage &stage = job.layout.stage[i];
        job.by[i].filter = heddle_divisor_of(stage.taps);
        job.by[i].c = heddle_divisor_of(stage.size.c);
        job.by[i].next_w = heddle_divisor_of(stage.size.next_w);
        job.by[i].windows = heddle_divisor_of(stage.size.next_h * stage.size.next_w);
    }
    return job;
}

// --- elements -------------------------------------------------------------------------------------------------------

template <typename Element> constexpr bool tensor_has_pairs = false;
template <> constexpr bool tensor_has_pairs<rows_pair> = true;

// The elements of a lane, upper halves first; without pairs they are all there is.
template <bool Pairs> struct tensor_left {
    uint32_t part[Pairs ? 2 : 1][4];
};
template <bool Pairs> struct tensor_right {
    uint32_t part[Pairs ? 2 : 1][2];
};

// A lane's results. Whole: the left side has no lower halves.
template <bool Pairs> struct tensor_sum {
    float upper[4], lower[Pairs ? 4 : 1];

    __device__ __forceinline__ tensor_sum() : upper(), lower()
    {
    }
    template <bool Whole> __device__ __forceinline__ void add(const tensor_left<Pairs> &a, const tensor_right<Pairs> &b)
    {
        mma_m16n8k16_half(upper, a.part[0], b.part[0], upper);
        if constexpr (Pairs) {
            mma_m16n8k16_half(lower, a.part[0], b.part[1], lower);
            if constexpr (!Whole)
                mma_m16n8k16_half(lower, a.part[1], b.part[0], lower);
        }
    }
    __device__ __forceinline__ float value(int i) const
    {
        return Pairs ? upper[i] + lower[Pairs ? i : 0] * rows_pair_unscale : upper[i];
    }
};

// Writes an element, or two neighbours.
template <bool Pairs> __device__ static __forceinline__ void store_element(char *to, int lower, float value)
{
    if constexpr (Pairs)
        rows_pair_split(value, (__half *)to, (__half *)(to + lower));
    else
        *(__half *)to = rows_element<__half>::round(value);
}

template <bool Pairs> __device__ static __forceinline__ void store_two(char *to, int lower, float low, float high)
{
    if constexpr (Pairs)
        rows_pair_split(low, high, (__half2 *)to, (__half2 *)(to + lower));
    else
        *(__half2 *)to = rows_element<__half>::round(low, high);
}

// The right side of a product, as store_weight() below has left it.
template <bool Pairs>
__device__ static __forceinline__ void load_right(const char *fragment, int lower, tensor_right<Pairs> &b)
{
#pragma unroll
    for (int i = 0; i < (Pairs ? 2 : 1); i++) {
        const uint2 two = ((const uint2 *)(fragment + i * lower))[threadIdx.x % 32];
        b.part[i][0] = two.x, b.part[i][1] = two.y;
    }
}

// Where the right side of a product has an element: row of 16, column of eight.
__device__ static __forceinline__ int place_in_right(unsigned row, unsigned column)
{
    return 2 * (((column * 4 + row % 8 / 2) * 2 + row / 8) * 2 + row % 2);
}

// Calls store(i, weight) for all of a stage's weights; their loads are under way together.
template <typename Store> __device__ static __forceinline__ void for_weights(const float *from, int all, Store store)
{
    enum { AT_ONCE = 5 };
#pragma unroll 1
    for (int first = threadIdx.x; first < all; first += AT_ONCE * blockDim.x) {
        float value[AT_ONCE];
#pragma unroll
        for (int j = 0; j < AT_ONCE; j++)
            value[j] = first + j * blockDim.x < all ? __ldg(from + first + j * blockDim.x) : 0.0f;
#pragma unroll
        for (int j = 0; j < AT_ONCE; j++)
            if (first + j * blockDim.x < all)
                store(first + j * blockDim.x, value[j]);
    }
}

// Eight rows of each of four matrices, of the upper halves and of the lower ones.
template <bool Pairs>
__device__ static __forceinline__ void load_left(const char *row, int lower, tensor_left<Pairs> &a)
{
#pragma unroll
    for (int i = 0; i < (Pairs ? 2 : 1); i++)
        ldmatrix_x4(a.part[i], row + i * lower);
}

// --- images and windows ---------------------------------------------------------------------------------------------

// Four neighbours of a line to a copy of the image that has them from column `column` on.
__device__ static __forceinline__ void store_line(char *line, int column, const __half (&value)[4])
{
    __half *to = (__half *)line + column;
    if (column % 2 == 0) {
        *(__half2 *)to = __halves2half2(value[0], value[1]);
        *(__half2 *)(to + 2) = __halves2half2(value[2], value[3]);
    } else {
        if (column > 0)
            to[0] = value[0];
        *(__half2 *)(to + 1) = __halves2half2(value[1], value[2]);
        to[3] = value[3];
    }
}

// The image's bytes as whole numbers, which are exact, in both copies: four at a time if lines and memory are aligned.
// The upper half of the threads begins: backward the lower half has other work.
__device__ static void load_image(const tensor_job &job, const uint8_t *pixels, char *shared)
{
    const tensor_stage &first = job.layout.stage[0];
    const int all = job.c * job.h * job.w, padding = first.of.padding;
    const bool fours = job.w % 4 == 0 && (uintptr_t)pixels % 4 == 0;
    const int thread = threadIdx.x ^ blockDim.x / 2, each = fours ? 4 : 1;
#pragma unroll 1
    for (int i = thread * each; i < all; i += blockDim.x * each) {
        unsigned x, y;
        const unsigned c = heddle_divide(heddle_divide(i, job.image_w, &x), job.image_h, &y);
        char *line = shared + first.input + c * first.plane + (y + padding) * first.pitch;
        const int column = x + padding;
        if (fours) {
            const uint32_t four = __ldg((const uint32_t *)(pixels + i));
            __half value[4];
#pragma unroll
            for (int j = 0; j < 4; j++)
                value[j] = __ushort2half_rn(four >> 8 * j & 255);
            store_line(line, column, value);
            store_line(line + first.copy, column - 1, value);
        } else {
            const __half value = __ushort2half_rn(__ldg(pixels + i));
            ((__half *)line)[column] = value;
            if (column > 0)
                ((__half *)(line + first.copy))[column - 1] = value;
        }
    }
}

// --- windows --------------------------------------------------------------------------------------------------------

// Whether windows are two by two, with lines that one access can load or store: the fast way through a stage.
__device__ static __forceinline__ bool has_pairs_of_lines(const tensor_stage &stage, const float *kept)
{
    return stage.of.window == 2 && (uintptr_t)kept % sizeof(float2) == 0;
}

// Pooling of two by two results. NaN is the largest.
__device__ static __forceinline__ float pool_four(int average, const float (&y)[4])
{
    if (average)
        return (y[0] + y[1] + (y[2] + y[3])) * 0.25f;
    trunk_pool pool;
#pragma unroll
    for (int i = 0; i < 4; i++)
        pool.add(y[i], i);
    return pool.most;
}

__device__ static __forceinline__ int windows_of(const tensor_stage &stage)
{
    return stage.size.next_h * stage.size.next_w;
}

__device__ static __forceinline__ int2 window_at(const tensor_job &job, int index, int number)
{
    unsigned x;
    const unsigned y = heddle_divide(number, job.by[index].next_w, &x);
    return make_int2((int)x, (int)y);
}

// Where a result is in the input: the first element that its filter reads.
__device__ static __forceinline__ int filter_at(const tensor_stage &stage, bool is_first, int y, int x)
{
    return stage.input + y * stage.pitch + (is_first ? x / 2 * 4 + x % 2 * stage.copy : x * stage.pixel);
}

// What a window finds: offsets in shared memory, but that of its first result among the activations of a channel.
struct __align__(16) tensor_place
{
    int here;  // forward: where the filter of its first result begins; backward: the gradient of that result
    int kept;  // among the activations of a channel
    int next;  // in the input of the next stage, or in the row
    int reach; // backward: where filters that reach the pixel begin in the next stage's gradient
};

__device__ static __forceinline__ const tensor_place &place_of(const tensor_stage &stage, const char *shared,
                                                               int number)
{
    return ((const tensor_place *)(shared + stage.windows))[number];
}

template <bool Backward> __device__ static void set_windows(const tensor_job &job, int index, char *shared)
{
    const bool is_last = index == job.layout.stages - 1;
    const tensor_stage &stage = job.layout.stage[index], &next = job.layout.stage[is_last ? index : index + 1];
    const int window = stage.of.window, padding = next.of.padding;
#pragma unroll 1
    for (int i = threadIdx.x; i < windows_of(stage); i += blockDim.x) {
        const int2 at = window_at(job, index, i);
        const int y = at.y * window, x = at.x * window;
        tensor_place place;
        place.here = Backward ? stage.gradient + (y + stage.frame) * stage.gradient_pitch +
                                    (x + stage.frame) * stage.gradient_pixel
                              : filter_at(stage, index == 0, y, x);
        place.kept = y * stage.size.kept_w + x;
        place.next =
            is_last ? i * job.channels : next.input + (at.y + padding) * next.pitch + (at.x + padding) * next.pixel;
        place.reach = next.gradient + at.y * next.gradient_pitch + at.x * next.gradient_pixel;
        ((tensor_place *)(shared + stage.windows))[i] = place;
    }
}

// Where eight channels of each tap, (r, r, chunks), are in the input of a stage after the first; at the end, anywhere.
__device__ static void set_offsets(const tensor_stage &stage, int count, char *shared)
{
    const int r = stage.of.r;
#pragma unroll 1
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        const int tap = i / stage.chunks;
        ((int *)(shared + stage.offsets))[i] =
            tap < stage.taps ? tap / r * stage.pitch + tap % r * stage.pixel + i % stage.chunks * TENSOR_CHUNK : 0;
    }
}

// The quotient of two numbers if it is small; *rest is the remainder.
__device__ static __forceinline__ int few(int number, int by, int *rest)
{
    int quotient = 0;
    for (; number >= by; number -= by)
        quotient++;
    *rest = number;
    return quotient;
}
