// What the parts of predict_one share: a step as the kernel needs it, a block's shared memory, and reading results that
// other blocks may not have stored yet.
#pragma once

#include <cuda/atomic>

#include "ops/cuda/mma.h"
#include "ops/cuda/rung.h"
#include "ops/cuda/vector.h"
#include "ops/predict_one/predict_one.h"
#include "ops/rows_conv/functions.h"

enum {
    PREDICT_THREADS = HEDDLE_PREDICT_WARPS * 32,
    PREDICT_ROWS = HEDDLE_PREDICT_TILE,
    PREDICT_MOST_TILES = 4,                           // of 8 channels in a unit
    PREDICT_ENOUGH_UNITS = 96,                        // of a convolution, before they are made smaller
    PREDICT_MOST_STRIDE = PREDICT_MOST_TILES * 8 + 8, // floats between two rows of sums
    PREDICT_FEW = 4,                                  // chunks of a linear layer that a warp loads at a time
    PREDICT_SUMS = HEDDLE_PREDICT_WARPS * PREDICT_ROWS * PREDICT_MOST_STRIDE,
};
static const uint32_t PREDICT_MISSING = 0xffffffff; // a GPU's arithmetic gives 0x7fffffff for every NaN

// How the units of a step are computed: a convolution's by tiles of a unit and chunks of a round.
enum predict_way {
    PREDICT_1_BY_1,
    PREDICT_1_BY_3,
    PREDICT_1_BY_5,
    PREDICT_1_BY_9,
    PREDICT_2_BY_1,
    PREDICT_2_BY_3,
    PREDICT_2_BY_5,
    PREDICT_2_BY_9,
    PREDICT_4_BY_1,
    PREDICT_4_BY_3,
    PREDICT_4_BY_5,
    PREDICT_LINEAR,
    PREDICT_LAST,
};

// A step as the kernel needs it. Where something begins is counted in floats of a bank, or of the weights.
struct alignas(16) predict_work {
    int units, first, way, unused; // first: the block that has its first unit; way: a predict_way
    int in, left, around;          // what it reads, its result and what is added to it; -1: nothing is
    int weight, bias;              // what it multiplies by and adds
    int rounds, windows;           // of a convolution: chunks of each warp; windows
    int taps, probe;               // its table's first; vectors from a filter's beginning to its middle
    int chunks, per, valid;        // of a linear layer's columns: all, those of a part; columns that are not padding
    int read_parts, read_bias;     // see predict_set_linear
    short kind, tiles, groups;     // tiles of 8 channels in a unit; units side by side
    short vectors, wide;           // of what it reads: vectors of a pixel, pixels of a line
    short r, stride, dilation;
    short next_w, window, average, function, read_function;
    short channels, padded, left_wide, around_wide;
    float per_window, per_inside, per_next_w, per_groups, per_vectors, per_r; // 1 / window and so on
};

struct predict_job {
    const uint8_t *image;
    const float *weights;
    int *state;
    float *probabilities;
    int bank; // floats
    int steps, classes;
    int image_c, image_pixels; // image_c: 0 if its bytes are read as one row
    int image_in, image_w, image_wide;
    float per_image_w;
    int tables;
    short table_of[HEDDLE_PREDICT_STEPS]; // steps whose tables are made
    predict_work work[HEDDLE_PREDICT_STEPS];
};
static_assert(sizeof(predict_job) <= 4096, "parameters of a kernel");

struct predict_room {
    predict_work work[HEDDLE_PREDICT_STEPS]; // a copy of the job's: parameters are slow to read the first time
    int taps[HEDDLE_PREDICT_TAPS];           // of four columns each: predict_tap
    union {
        float4 vector[HEDDLE_PREDICT_VECTOR / 4]; // what a linear layer reads
        float4 shared[HEDDLE_PREDICT_WARPS][32];  // of a convolution on CUDA cores
    };
    float sums[PREDICT_SUMS];
    int turn;
};

// What a launch works with.
struct predict_scene {
    const float *weights;
    float *bank;     // of its results
    ptrdiff_t other; // floats from there to the other bank
};

// Floats between two rows of a unit's sums: their banks are to differ.
__device__ static constexpr int predict_stride(int tiles)
{
    return tiles == 1 ? 8 : tiles * 8 + 8;
}

// The quotient of numbers below 2^20, by 1 / divisor.
__device__ static __forceinline__ int predict_quotient(int number, float per)
{
    return (int)(((float)number + 0.5f) * per);
}

// --- results that others wait for ------------------------------------------------------------------------------------

__device__ static __forceinline__ bool predict_is_missing(const float4 &value)
{
    return max(max(__float_as_uint(value.x), __float_as_uint(value.y)),
               max(__float_as_uint(value.z), __float_as_uint(value.w))) == PREDICT_MISSING;
}

// Four elements, some of which may be missing yet.
__device__ static __forceinline__ float4 predict_peek(const float4 *from)
{
    float4 value;
    asm volatile("ld.relaxed.gpu.global.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(value.x), "=f"(value.y), "=f"(value.z), "=f"(value.w)
                 : "l"(__cvta_generic_to_global(from))
                 : "memory");
    return value;
}

// Makes them whole.
__device__ static __forceinline__ void predict_wait(const float4 *from, float4 *value)
{
    while (predict_is_missing(*value))
        *value = predict_peek(from);
}

__device__ static __forceinline__ float4 predict_take(const float4 *from)
{
    float4 value = predict_peek(from);
    predict_wait(from, &value);
    return value;
}

__device__ static __forceinline__ float predict_peek(float *from)
{
    return cuda::atomic_ref<float, cuda::thread_scope_device>(*from).load(cuda::memory_order_relaxed);
}

// Stores a result, and takes back the one in the other bank.
__device__ static __forceinline__ void predict_leave(const predict_scene &scene, int at, float value)
{
    float *to = scene.bank + at;
    cuda::atomic_ref<float, cuda::thread_scope_device>(*to).store(value, cuda::memory_order_relaxed);
    to[scene.other] = __uint_as_float(PREDICT_MISSING);
}
