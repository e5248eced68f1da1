// rows_trunk on tensor cores: products of fp16 elements, or of pairs of them, and the images in shared memory.
#pragma once

#include "ops/cuda/dependent.h"
#include "ops/cuda/division.h"
#include "ops/cuda/element16.h"
#include "ops/cuda/mma.h"
#include "ops/rows_trunk/block.h"
#include "ops/rows_trunk/tensor_layout.h"

struct tensor_divisors {
    heddle_divisor filter, c;      // of weights
    heddle_divisor next_w, next_h; // of windows
};

struct tensor_job {
    int n, c, h, w;
    int kept, channels, columns; // of a row of activations; of the output
    int part, blocks;            // backward: images of a part, and blocks that share them
    heddle_divisor image_w, image_h;
    tensor_divisors by[HEDDLE_ROWS_TRUNK_STAGES];
    tensor_layout layout;
    trunk_left left;
};

static inline tensor_job tensor_job_of(const trunk_shape *shape, bool is_backward)
{
    tensor_job job = {};
    job.n = shape->n, job.c = shape->c, job.h = shape->h, job.w = shape->w;
    job.kept = heddle_trunk_kept(shape);
    job.channels = heddle_trunk_channels(shape);
    job.columns = heddle_trunk_columns(shape);
    job.layout = tensor_layout_of(shape, is_backward);
    job.left = trunk_left_of(shape);
    job.image_w = heddle_divisor_of(job.w), job.image_h = heddle_divisor_of(job.h);
    for (int i = 0; i < job.layout.stages; i++) {
        const tensor_stage &stage = job.layout.stage[i];
        job.by[i].filter = heddle_divisor_of(stage.taps);
        job.by[i].c = heddle_divisor_of(stage.size.c);
        job.by[i].next_w = heddle_divisor_of(stage.size.next_w);
        job.by[i].next_h = heddle_divisor_of(stage.size.next_h);
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

// Eight rows of each of four matrices, of the upper halves and of the lower ones.
template <bool Pairs>
__device__ static __forceinline__ void load_left(const char *row, int lower, tensor_left<Pairs> &a)
{
#pragma unroll
    for (int i = 0; i < (Pairs ? 2 : 1); i++)
        ldmatrix_x4(a.part[i], row + i * lower);
}

// --- images and windows ---------------------------------------------------------------------------------------------

// Its bytes as whole numbers, which are exact, in both copies.
__device__ static void load_image(const tensor_job &job, const uint8_t *pixels, char *shared)
{
    const tensor_stage &first = job.layout.stage[0];
    const int all = job.c * job.h * job.w, padding = first.of.padding;
#pragma unroll 2
    for (int i = threadIdx.x; i < all; i += TENSOR_THREADS) {
        unsigned x, y;
        const unsigned c = heddle_divide(heddle_divide(i, job.image_w, &x), job.image_h, &y);
        const __half value = __ushort2half_rn(__ldg(pixels + i));
        char *to = shared + first.input + c * first.plane + (y + padding) * first.pitch + (x + padding) * 2;
        *(__half *)to = value;
        if (x + padding > 0)
            *(__half *)(to + first.copy - 2) = value;
    }
}

// A window, by its number in (next_h, next_w), or in several of these one behind another.
struct tensor_window {
    int which, y, x;
};

__device__ static __forceinline__ tensor_window window_at(const tensor_job &job, int index, int number)
{
    unsigned x, y;
    const unsigned which = heddle_divide(heddle_divide(number, job.by[index].next_w, &x), job.by[index].next_h, &y);
    return {(int)which, (int)y, (int)x};
}

__device__ static __forceinline__ int windows_of(const tensor_stage &stage)
{
    return stage.size.next_h * stage.size.next_w;
}

// Where an input has a pixel of the stage before, without its padding.
__device__ static __forceinline__ int place_in_input(const tensor_stage &stage, const tensor_window &at)
{
    return stage.input + (at.y + stage.of.padding) * stage.pitch + (at.x + stage.of.padding) * stage.pixel;
}
