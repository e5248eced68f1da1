// A whole network's prediction of one image in one kernel. Its blocks stay from the image to the probabilities.
//
// One image gives a layer too little work to fill a GPU, and a launch per layer costs more than the layer. So the grid
// has one block per SM, and all layers are computed in turn. A layer is cut into units: 16 pixels by 8, 16 or 32
// channels of a convolution, 8 channels of a linear layer. The eight warps of a block share the columns of a unit, add
// their sums in shared memory, and apply what follows the product.
//
// Blocks do not wait for each other at barriers, but for the numbers that they read: memory for results begins as
// PREDICT_MISSING, a NaN that no result is, and a thread reads an element again until it is something else. No fence is
// needed, since an element is its own flag. There are two banks of results, used in turn: a launch that stores an
// element in one makes it missing in the other, for the next launch. A convolution does not look at each element: it
// multiplies them, and looks again only if the sums are NaN.
//
// What is short of instructions is fast here, since each runs only once per layer. So there are zeros around what a
// convolution reads, and its columns are padded to whole rounds: nothing has to be compared with an edge. Where columns
// lie is a table in shared memory, made while the image is on its way. Weights are loaded before a thread waits.
//
// A linear layer of many columns is cut along these as well. Its parts stay apart: the next layer adds them up when it
// reads them, with bias and function, which saves a wait.
//
// All blocks have to run at the same time, so the launch is cooperative.
//
// Limited by: latency: for each layer, one trip to memory to see that a result is there, and one to read the others.
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
static const uint32_t PREDICT_MISSING = 0xffffffff; // arithmetic gives 0x7fffffff for every NaN

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

// --- convolutions ----------------------------------------------------------------------------------------------------

// A row of a tile: where it is in the product, and its window of pixels.
struct predict_pixel {
    int y, x, line, column, sub;
    bool seen; // there is such a pixel; where not, it is the first
};

__device__ static predict_pixel predict_pixel_of(const predict_work &work, int tile, int row)
{
    const int inside = work.window * work.window, per = predict_quotient(PREDICT_ROWS, work.per_inside);
    const int inner = predict_quotient(row, work.per_inside), window = tile * per + inner;
    predict_pixel pixel;
    pixel.seen = inner < per && window < work.windows;
    pixel.sub = row - inner * inside;
    pixel.line = predict_quotient(window, work.per_next_w);
    pixel.column = window - pixel.line * work.next_w;
    const int sub_line = predict_quotient(pixel.sub, work.per_window);
    pixel.y = pixel.seen ? pixel.line * work.window + sub_line : 0;
    pixel.x = pixel.seen ? pixel.column * work.window + pixel.sub - sub_line * work.window : 0;
    return pixel;
}

// Four columns of a filter, in vectors from where it begins. Where they are padding, with zeros for weights, anything
// that is read anyway.
__device__ static int predict_tap(const predict_work &work, int four)
{
    const int tap = predict_quotient(four, work.per_vectors), line = predict_quotient(tap, work.per_r);
    return line >= work.r
               ? 0
               : (line * work.wide + tap - line * work.r) * work.dilation * work.vectors + four - tap * work.vectors;
}

// What a warp reads of `Round` chunks of columns, every eighth, for the two pixels of a lane.
template <int Round> struct predict_factors {
    float4 a[Round][2];
    const float4 *from[2]; // where the filters begin
    int taps[Round];

    __device__ void place(const predict_scene &scene, const predict_work &work, int tile)
    {
#pragma unroll
        for (int j = 0; j < 2; j++) {
            const predict_pixel pixel = predict_pixel_of(work, tile, threadIdx.x % 32 / 4 + j * 8);
            from[j] =
                (const float4 *)(scene.bank + work.in) + (pixel.y * work.wide + pixel.x) * work.stride * work.vectors;
        }
    }

    // Of the chunks from `first` of a warp's on.
    __device__ void find(const predict_work &work, const int *table, int first)
    {
        const int *mine = table + work.taps + first * PREDICT_THREADS / 8 + threadIdx.x / 32 * 4 + threadIdx.x % 4;
#pragma unroll
        for (int i = 0; i < Round; i++)
            taps[i] = mine[i * PREDICT_THREADS / 8];
    }

    // Until the middle of a filter is there, in one of its channels: each warp looks at another.
    __device__ void watch(const predict_work &work) const
    {
        const int warp = (int)threadIdx.x / 32;
        if ((int)threadIdx.x % 32 == warp * 4)
            predict_take(from[1] + work.probe + warp % work.vectors);
        __syncwarp();
    }

    __device__ void read()
    {
#pragma unroll
        for (int i = 0; i < 2 * Round; i++)
            a[i / 2][i % 2] = predict_peek(from[i % 2] + taps[i / 2]);
    }

    // Reads what is missing again, all at once, until nothing is.
    __device__ void wait()
    {
        for (bool missing = true; missing;) {
            missing = false;
#pragma unroll
            for (int i = 0; i < 2 * Round; i++)
                if (predict_is_missing(a[i / 2][i % 2])) {
                    a[i / 2][i % 2] = predict_peek(from[i % 2] + taps[i / 2]);
                    missing = true;
                }
        }
        __syncwarp();
    }
};

// A lane's columns of `Tiles` times eight channels in as many chunks.
template <int Tiles, int Round>
__device__ static void predict_conv_weights(const predict_scene &scene, const predict_work &work, int tile, int first,
                                            float4 (&b)[Round][Tiles])
{
    const int all = (work.channels + 7) / 8;
#pragma unroll
    for (int j = 0; j < Tiles; j++) {
        const int row = min(tile + j, all - 1); // nobody looks at the sums of a tile behind the last
        const float4 *from =
            (const float4 *)(scene.weights + work.weight) + (row * work.rounds + first) * PREDICT_THREADS + threadIdx.x;
#pragma unroll
        for (int i = 0; i < Round; i++)
            b[i][j] = from[i * PREDICT_THREADS];
    }
}

// The results that a thread makes of a unit's sums: a warp has four rows of eight channels at a time.
template <int Tiles> struct predict_results {
    enum {
        COLUMNS = Tiles * 8,
        STRIDE = predict_stride(Tiles),
        BLOCKS = PREDICT_ROWS / 4 * Tiles,
        EACH = BLOCKS > HEDDLE_PREDICT_WARPS ? BLOCKS / HEDDLE_PREDICT_WARPS : 1,
    };
    float bias[EACH], around[EACH];
    int at[EACH], beside[EACH]; // where the result goes, and what is added to it; -1: nowhere

    // Of the j-th result: its row, and its channel in the unit.
    static __device__ int row(int j)
    {
        return (j * HEDDLE_PREDICT_WARPS + (int)threadIdx.x / 32) / Tiles * 4 + threadIdx.x % 32 / 8;
    }
    static __device__ int column(int j)
    {
        return (j * HEDDLE_PREDICT_WARPS + (int)threadIdx.x / 32) % Tiles * 8 + threadIdx.x % 8;
    }
    static __device__ bool has_some()
    {
        return BLOCKS >= HEDDLE_PREDICT_WARPS || threadIdx.x / 32 < BLOCKS;
    }

    __device__ void place(const predict_scene &scene, const predict_work &work, int tile, int group)
    {
#pragma unroll
        for (int j = 0; j < EACH; j++) {
            const int channel = group * COLUMNS + column(j);
            const bool real = has_some() && channel < work.channels;
            const predict_pixel pixel = predict_pixel_of(work, tile, row(j));
            bias[j] = real ? scene.weights[work.bias + channel] : 0.0f;
            at[j] = has_some() && pixel.seen && pixel.sub == 0 && channel < work.padded
                        ? work.left + (pixel.line * work.left_wide + pixel.column) * work.padded + channel
                        : -1;
            beside[j] = real && work.around >= 0
                            ? work.around + (pixel.y * work.around_wide + pixel.x) * work.padded + channel
                            : -1;
        }
    }

    __device__ void look_around(const predict_scene &scene)
    {
#pragma unroll
        for (int j = 0; j < EACH; j++)
            around[j] = beside[j] >= 0 ? predict_peek(scene.bank + beside[j]) : 0.0f;
    }

    // An element of the product, with what is added to it, after the function.
    __device__ float finish(const predict_scene &scene, const predict_work &work, int j, const float *sums)
    {
        float value = bias[j];
#pragma unroll
        for (int warp = 0; warp < HEDDLE_PREDICT_WARPS; warp++)
            value += sums[(warp * PREDICT_ROWS + row(j)) * STRIDE + column(j)];
        while (__float_as_uint(around[j]) == PREDICT_MISSING)
            around[j] = predict_peek(scene.bank + beside[j]);
        return rows_function(work.function, value + around[j]);
    }

    // Windows of one or four pixels, from the sums of all warps: the lanes of a window add theirs up.
    __device__ void store(const predict_scene &scene, const predict_work &work, const float *sums)
    {
        if (!has_some())
            return;
#pragma unroll
        for (int j = 0; j < EACH; j++) {
            float value = finish(scene, work, j, sums);
            __syncwarp();
            if (work.window == 2) {
                for (int distance = 8; distance < 32; distance *= 2) {
                    const float other = __shfl_xor_sync(~0u, value, distance);
                    value = work.average ? value + other : fmaxf(value, other);
                }
                value = work.average ? value * 0.25f : value;
            }
            if (at[j] >= 0)
                predict_leave(scene, at[j], value);
        }
    }

    // Larger windows: elements go back to where the first warp's sums were.
    __device__ void store_large(const predict_scene &scene, const predict_work &work, float *sums)
    {
        const int inside = work.window * work.window;
        if (has_some())
#pragma unroll
            for (int j = 0; j < EACH; j++)
                sums[row(j) * STRIDE + column(j)] = finish(scene, work, j, sums);
        __syncthreads();
#pragma unroll
        for (int j = 0; j < EACH; j++) {
            if (at[j] < 0)
                continue;
            const float *from = sums + row(j) * STRIDE + column(j);
            float pooled = *from;
            for (int sub = 1; sub < inside; sub++)
                pooled = work.average ? pooled + from[sub * STRIDE] : fmaxf(pooled, from[sub * STRIDE]);
            predict_leave(scene, at[j], work.average ? pooled / (float)inside : pooled);
        }
    }
};

// The sums of `Round` chunks at a time, added to those before.
template <typename Math, int Tiles, int Round>
__device__ static __forceinline__ void predict_multiply(typename Math::sums (&sums)[Tiles],
                                                        const predict_factors<Round> &factors,
                                                        const float4 (&b)[Round][Tiles], float4 *shared)
{
#pragma unroll
    for (int i = 0; i < Round; i++) {
        const typename Math::rows rows(factors.a[i][0], factors.a[i][1]);
#pragma unroll
        for (int j = 0; j < Tiles; j++)
            Math::multiply(sums[j], rows, b[i][j], shared);
    }
}

template <typename Math, int Tiles, int Round>
__device__ static void predict_conv(const predict_scene &scene, const predict_work &work, int unit, predict_room &room)
{
    enum { STRIDE = predict_stride(Tiles) };
    const int tile = predict_quotient(unit, work.per_groups), group = unit - tile * work.groups;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    float4 b[Round][Tiles];
    predict_factors<Round> factors;
    predict_results<Tiles> results;
    typename Math::sums sums[Tiles] = {};
    predict_conv_weights<Tiles, Round>(scene, work, group * Tiles, 0, b);
    factors.place(scene, work, tile);
    factors.find(work, room.taps, 0);
    results.place(scene, work, tile, group);
    factors.watch(work);
    factors.read();
    results.look_around(scene);
    predict_multiply<Math>(sums, factors, b, room.shared[warp]);
    if (__any_sync(~0u, Math::is_missing(sums[0]))) { // a column that is missing makes all channels NaN
        factors.wait();
#pragma unroll
        for (int j = 0; j < Tiles; j++)
            Math::clear(sums[j]);
        predict_multiply<Math>(sums, factors, b, room.shared[warp]);
    }
    for (int first = Round; first < work.rounds; first += Round) {
        predict_conv_weights<Tiles, Round>(scene, work, group * Tiles, first, b);
        factors.find(work, room.taps, first);
        factors.read();
        factors.wait();
        predict_multiply<Math>(sums, factors, b, room.shared[warp]);
    }
    __syncthreads(); // the unit before is stored
    float *kept = room.sums + (warp * PREDICT_ROWS + lane / 4) * STRIDE + lane % 4 * 2;
#pragma unroll
    for (int j = 0; j < Tiles; j++) {
        float four[4];
        Math::leave(sums[j], four);
        *(float2 *)(kept + j * 8) = make_float2(four[0], four[1]);
        *(float2 *)(kept + 8 * STRIDE + j * 8) = make_float2(four[2], four[3]);
    }
    __syncthreads();
    if (work.window <= 2)
        results.store(scene, work, room.sums);
    else
        results.store_large(scene, work, room.sums);
}

// --- linear layers ---------------------------------------------------------------------------------------------------

// A lane's columns of `Tiles` times eight channels in up to `Round` chunks: every eighth from `chunk` to `end`.
template <int Tiles, int Round>
__device__ static void predict_linear_weights(const predict_scene &scene, const predict_work &work, int tile, int chunk,
                                              int end, float4 (&b)[Round][Tiles])
{
    const float4 *from = (const float4 *)(scene.weights + work.weight) + threadIdx.x % 32;
    const int all = (work.channels + 7) / 8;
#pragma unroll
    for (int i = 0; i < Round; i++) {
        const int at = chunk + i * HEDDLE_PREDICT_WARPS;
#pragma unroll
        for (int j = 0; j < Tiles; j++)
            b[i][j] = at < end && tile + j < all ? from[((size_t)(tile + j) * work.chunks + at) * 32]
                                                 : make_float4(0, 0, 0, 0);
    }
}

static __device__ __forceinline__ void predict_add(float4 &sum, const float4 &more)
{
    sum.x += more.x, sum.y += more.y, sum.z += more.z, sum.w += more.w;
}

// Every `step`-th of `count` vectors, `stride` vectors apart, added in order; eight are on their way at a time.
__device__ static float4 predict_sum_of(const float4 *from, int stride, int first, int step, int count)
{
    enum { AT_ONCE = 8 };
    float4 sum = make_float4(0, 0, 0, 0);
    for (int part = first; part < count; part += AT_ONCE * step) {
        float4 more[AT_ONCE];
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++)
            more[i] = part + i * step < count ? predict_peek(from + (size_t)(part + i * step) * stride)
                                              : make_float4(0, 0, 0, 0);
        for (bool missing = true; missing;) {
            missing = false;
#pragma unroll
            for (int i = 0; i < AT_ONCE; i++)
                if (predict_is_missing(more[i])) {
                    more[i] = predict_peek(from + (size_t)(part + i * step) * stride);
                    missing = true;
                }
        }
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++)
            predict_add(sum, more[i]);
    }
    return sum;
}

// Four elements of what a linear layer reads, from `column` on.
__device__ static float4 predict_element(const predict_scene &scene, const predict_work &work, int column)
{
    if (column >= work.valid)
        return make_float4(0, 0, 0, 0);
    float4 bias = make_float4(0, 0, 0, 0);
    if (work.read_bias >= 0)
        bias = *(const float4 *)(scene.weights + work.read_bias + column);
    float4 sum = predict_sum_of((const float4 *)(scene.bank + work.in + column), work.vectors, 0, 1, work.read_parts);
    predict_add(sum, bias);
    const int function = work.read_function;
    return make_float4(rows_function(function, sum.x), rows_function(function, sum.y), rows_function(function, sum.z),
                       rows_function(function, sum.w));
}

// The means of all channels: each column of threads adds a part of the pixels.
__device__ static void predict_load_means(const predict_scene &scene, const predict_work &work, predict_room &room)
{
    const int vectors = work.vectors, slices = max(PREDICT_THREADS / vectors, 1);
    float4 *parts = (float4 *)room.sums;
    __syncthreads(); // the unit before is stored
    const float4 *from = (const float4 *)(scene.bank + work.in);
    for (int i = threadIdx.x; i < slices * vectors; i += PREDICT_THREADS)
        parts[i] = predict_sum_of(from + i % vectors, vectors, i / vectors, slices, work.read_parts);
    __syncthreads();
    for (int i = threadIdx.x; i < work.chunks * (HEDDLE_PREDICT_CHUNK / 4); i += PREDICT_THREADS) {
        float4 sum = make_float4(0, 0, 0, 0);
        for (int slice = 0; slice < slices && i < vectors; slice++)
            predict_add(sum, parts[slice * vectors + i]);
        const float pixels = (float)work.windows;
        room.vector[i] = make_float4(sum.x / pixels, sum.y / pixels, sum.z / pixels, sum.w / pixels);
    }
    __syncthreads();
}

// Columns of chunks `first` to `end` of what the layer reads, into shared memory.
__device__ static void predict_load_vector(const predict_scene &scene, const predict_work &work, int first, int end,
                                           float4 *vector)
{
    const int count = (end - first) * (HEDDLE_PREDICT_CHUNK / 4);
    __syncthreads(); // the unit before is stored
    const int mine = first * HEDDLE_PREDICT_CHUNK + (int)threadIdx.x * 4;
    if (threadIdx.x % 32 == 0 && (int)threadIdx.x < count && mine < work.valid) // a lane waits for its warp
        predict_take((const float4 *)(scene.bank + work.in + mine));
    __syncwarp();
    for (int i = threadIdx.x; i < count; i += PREDICT_THREADS)
        vector[i] = predict_element(scene, work, first * HEDDLE_PREDICT_CHUNK + i * 4);
    __syncthreads();
}

// Sums of `Tiles` times eight channels over the columns of a part, in room.sums: (warps, channels).
template <int Tiles, int Round>
__device__ static void predict_linear_sums(const predict_scene &scene, const predict_work &work, int tile, int part,
                                           predict_room &room)
{
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int first = part * work.per, end = min(first + work.per, work.chunks);
    float4 b[Round][Tiles];
    float sums[Tiles] = {};
    predict_linear_weights<Tiles, Round>(scene, work, tile, first + warp, end, b);
    if (work.kind == HEDDLE_PREDICT_MEANS)
        predict_load_means(scene, work, room);
    else
        predict_load_vector(scene, work, first, end, room.vector);
    for (int chunk = first + warp; chunk < end; chunk += Round * HEDDLE_PREDICT_WARPS) {
        if (chunk != first + warp)
            predict_linear_weights<Tiles, Round>(scene, work, tile, chunk, end, b);
#pragma unroll
        for (int i = 0; i < Round; i++) {
            const int at = chunk + i * HEDDLE_PREDICT_WARPS;
            if (at >= end)
                break;
            const float4 a = room.vector[(at - first) * (HEDDLE_PREDICT_CHUNK / 4) + lane % 4];
#pragma unroll
            for (int j = 0; j < Tiles; j++)
                sums[j] += a.x * b[i][j].x + a.y * b[i][j].y + (a.z * b[i][j].z + a.w * b[i][j].w);
        }
    }
#pragma unroll
    for (int j = 0; j < Tiles; j++) {
        sums[j] += __shfl_xor_sync(~0u, sums[j], 1);
        sums[j] += __shfl_xor_sync(~0u, sums[j], 2);
        if (lane % 4 == 0)
            room.sums[warp * Tiles * 8 + j * 8 + lane / 4] = sums[j];
    }
    __syncthreads();
}

template <int Tiles> __device__ static float predict_sum_of_warps(const float *sums, int channel)
{
    float sum = 0;
#pragma unroll
    for (int warp = 0; warp < HEDDLE_PREDICT_WARPS; warp++)
        sum += sums[warp * Tiles * 8 + channel];
    return sum;
}

__device__ static void predict_linear(const predict_scene &scene, const predict_work &work, int unit,
                                      predict_room &room)
{
    const int part = predict_quotient(unit, work.per_groups), tile = unit - part * work.groups;
    const int channel = tile * 8 + (int)threadIdx.x;
    if (work.per <= PREDICT_FEW * HEDDLE_PREDICT_WARPS)
        predict_linear_sums<1, PREDICT_FEW>(scene, work, tile, part, room);
    else
        predict_linear_sums<1, 2 * PREDICT_FEW>(scene, work, tile, part, room);
    if (threadIdx.x < 8 && channel < work.padded)
        predict_leave(scene, work.left + part * work.padded + channel, predict_sum_of_warps<1>(room.sums, threadIdx.x));
}

// The last layer, by one block.
__device__ static void predict_classify(const predict_job &job, const predict_scene &scene, const predict_work &work,
                                        predict_room &room)
{
    const int lane = threadIdx.x;
    const float bias = lane < job.classes ? scene.weights[work.bias + lane] : 0.0f;
    predict_linear_sums<PREDICT_MOST_TILES, 4>(scene, work, 0, 0, room);
    if (lane >= 32)
        return;
    float logit = -INFINITY;
    if (lane < job.classes)
        logit = predict_sum_of_warps<PREDICT_MOST_TILES>(room.sums, lane) + bias;
    float most = logit;
    for (int distance = 16; distance > 0; distance /= 2)
        most = fmaxf(most, __shfl_xor_sync(~0u, most, distance));
    const float power = expf(logit - most);
    float sum = power;
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(~0u, sum, distance);
    if (lane < job.classes)
        job.probabilities[lane] = power / sum;
}

// --- the image -------------------------------------------------------------------------------------------------------

// The image as the first steps read it. It may be in host memory, so that a warp of each block reads some of it, once.
// An item are the bytes of a pixel's channels, or, for a linear layer, four of the row of all bytes.
struct predict_image {
    int item, items, step;
    uint8_t bytes[4];

    __device__ predict_image(const predict_job &job)
    {
        items = job.image_c ? job.image_pixels : (job.image_pixels + 3) / 4;
        step = PREDICT_THREADS * (int)gridDim.x;
        item = ((int)(threadIdx.x / 32 * gridDim.x) + (int)blockIdx.x) * 32 + (int)threadIdx.x % 32;
        read(job);
    }

    __device__ void read(const predict_job &job)
    {
        const int count = item >= items ? 0 : job.image_c ? job.image_c : min(4, job.image_pixels - item * 4);
        const int first = job.image_c ? item : item * 4, apart = job.image_c ? job.image_pixels : 1;
#pragma unroll
        for (int c = 0; c < 4; c++)
            bytes[c] = c < count ? job.image[first + c * apart] : 0;
    }

    __device__ void leave(const predict_job &job, const predict_scene &scene)
    {
        for (; item < items; item += step, read(job)) {
            const int line = job.image_c ? predict_quotient(item, job.per_image_w) : 0;
            const int at = job.image_in + (line * (job.image_wide - job.image_w) + item) * 4;
#pragma unroll
            for (int c = 0; c < 4; c++)
                predict_leave(scene, at + c, (float)bytes[c] * (1.0f / 255));
        }
    }
};

// --- the kernel ------------------------------------------------------------------------------------------------------

__device__ static void predict_copy_work(const predict_job &job, predict_room &room)
{
    enum { WORDS = sizeof(predict_work) / sizeof(int) };
    for (int i = threadIdx.x; i < job.steps * WORDS; i += PREDICT_THREADS)
        ((int *)room.work)[i] = ((const int *)job.work)[i];
}

__device__ static void predict_make_tables(const predict_job &job, predict_room &room)
{
    for (int table = 0; table < job.tables; table++) {
        const predict_work &work = room.work[job.table_of[table]];
        for (int i = threadIdx.x; i < work.rounds * (PREDICT_THREADS / 8); i += PREDICT_THREADS)
            room.taps[work.taps + i] = predict_tap(work, i);
    }
}

template <typename Math>
__global__ void __launch_bounds__(PREDICT_THREADS, 1) predict_one(const __grid_constant__ predict_job job)
{
    __shared__ predict_room room;
    predict_image image(job);
    if (threadIdx.x == 0) // each block counts its launches; all have had as many
        room.turn = job.state[blockIdx.x];
    predict_copy_work(job, room);
    __syncthreads();
    float *const banks = (float *)(job.state + HEDDLE_PREDICT_TURNS);
    const predict_scene scene = {job.weights, banks + (room.turn ? job.bank : 0), room.turn ? -job.bank : job.bank};
    predict_make_tables(job, room);
    image.leave(job, scene);
    __syncthreads();
    if (threadIdx.x == 0)
        job.state[blockIdx.x] = 1 - room.turn;
    for (int s = 0; s < job.steps; s++) {
        const predict_work &work = room.work[s];
        const int4 share = *(const int4 *)&work; // units, first, way
        int unit = (int)blockIdx.x - share.y;
        for (unit += unit < 0 ? (int)gridDim.x : 0; unit < share.x; unit += (int)gridDim.x)
            switch (share.z) {
            case PREDICT_1_BY_1: predict_conv<Math, 1, 1>(scene, work, unit, room); break;
            case PREDICT_1_BY_3: predict_conv<Math, 1, 3>(scene, work, unit, room); break;
            case PREDICT_1_BY_5: predict_conv<Math, 1, 5>(scene, work, unit, room); break;
            case PREDICT_1_BY_9: predict_conv<Math, 1, 9>(scene, work, unit, room); break;
            case PREDICT_2_BY_1: predict_conv<Math, 2, 1>(scene, work, unit, room); break;
            case PREDICT_2_BY_3: predict_conv<Math, 2, 3>(scene, work, unit, room); break;
            case PREDICT_2_BY_5: predict_conv<Math, 2, 5>(scene, work, unit, room); break;
            case PREDICT_2_BY_9: predict_conv<Math, 2, 9>(scene, work, unit, room); break;
            case PREDICT_4_BY_1: predict_conv<Math, 4, 1>(scene, work, unit, room); break;
            case PREDICT_4_BY_3: predict_conv<Math, 4, 3>(scene, work, unit, room); break;
            case PREDICT_4_BY_5: predict_conv<Math, 4, 5>(scene, work, unit, room); break;
            case PREDICT_LINEAR: predict_linear(scene, work, unit, room); break;
            default: predict_classify(job, scene, work, room);
            }
    }
}

// --- launching -------------------------------------------------------------------------------------------------------

static inline void predict_set_conv(const heddle_predict_step *step, predict_work *work)
{
    const int per = PREDICT_ROWS / (step->window * step->window), tiles = (work->windows + per - 1) / per;
    const int all = (step->channels + 7) / 8;
    work->tiles = PREDICT_MOST_TILES;
    while (work->tiles > 1 && tiles * ((all + work->tiles - 1) / work->tiles) < PREDICT_ENOUGH_UNITS)
        work->tiles /= 2;
    work->groups = (short)((all + work->tiles - 1) / work->tiles);
    work->units = tiles * work->groups;
    // The largest round that its chunks are a multiple of, and that leaves registers for the rest.
    const int first = work->tiles == 1 ? PREDICT_1_BY_1 : work->tiles == 2 ? PREDICT_2_BY_1 : PREDICT_4_BY_1;
    work->way = first + (work->rounds % 9 == 0 && work->tiles < PREDICT_MOST_TILES ? 3
                         : work->rounds % 5 == 0                                   ? 2
                         : work->rounds % 3 == 0                                   ? 1
                                                                                   : 0);
}

// What a linear layer reads: pixels to take the mean of, or parts to add up, with that step's bias and function.
static inline void predict_set_linear(const heddle_predict_step *steps, const heddle_predict_step *step,
                                      predict_work *work)
{
    const heddle_predict_step *from = step->from < 0 ? NULL : &steps[step->from];
    work->tiles = 1;
    work->groups = (short)((step->channels + 7) / 8);
    work->units = work->groups * step->parts;
    work->way = PREDICT_LINEAR;
    work->per = (work->chunks + step->parts - 1) / step->parts;
    work->read_parts = step->kind == HEDDLE_PREDICT_MEANS ? (step->h + 2 * step->edge) * (step->w + 2 * step->edge)
                       : from                             ? from->parts
                                                          : 1;
    work->read_bias = from && from->kind != HEDDLE_PREDICT_CONV ? from->bias : -1;
    work->read_function = (short)(work->read_bias >= 0 ? from->function : 0);
}

// Where the first pixel of what step `index` leaves is, behind the zeros around it; -1: the image's.
static inline int predict_first_pixel(const heddle_predict_step *steps, int index, int border)
{
    const int wide = index < 0 ? steps[0].w : steps[index].next_w,
              channels = index < 0 ? steps[0].c : steps[index].channels;
    return (index < 0 ? 0 : steps[index].left) + border * (wide + 2 * border + 1) * heddle_predict_padded(channels);
}

static inline predict_work predict_work_of(const heddle_predict_step *steps, int index)
{
    const heddle_predict_step *step = &steps[index];
    const bool is_conv = step->kind == HEDDLE_PREDICT_CONV;
    const int padded = heddle_predict_padded(step->c), wide = step->w + 2 * step->edge;
    predict_work work = {};
    work.kind = (short)step->kind;
    work.in = predict_first_pixel(steps, step->from, step->edge);
    if (is_conv)
        work.in -= step->padding * (wide + 1) * padded;
    else
        work.in = step->from < 0 ? 0 : steps[step->from].left;
    work.vectors = (short)(padded / 4), work.wide = (short)wide;
    work.chunks = step->columns / HEDDLE_PREDICT_CHUNK, work.rounds = work.chunks / HEDDLE_PREDICT_WARPS;
    work.valid = step->kind == HEDDLE_PREDICT_MEANS ? padded : heddle_predict_read(step);
    work.taps = step->taps;
    work.probe = step->r / 2 * step->dilation * (wide + 1) * work.vectors;
    work.r = (short)step->r, work.stride = (short)step->stride, work.dilation = (short)step->dilation;
    work.windows = step->kind == HEDDLE_PREDICT_MEANS ? step->h * step->w : step->next_h * step->next_w;
    work.next_w = (short)step->next_w;
    work.window = (short)step->window, work.average = (short)step->average, work.function = (short)step->function;
    work.channels = (short)step->channels, work.padded = (short)heddle_predict_padded(step->channels);
    work.weight = step->weight, work.bias = step->bias;
    work.left = predict_first_pixel(steps, index, step->border);
    work.left_wide = (short)(step->next_w + 2 * step->border);
    work.around = -1;
    if (step->around >= 0) {
        const heddle_predict_step *around = &steps[step->around];
        work.around = predict_first_pixel(steps, step->around, around->border);
        work.around_wide = (short)(around->next_w + 2 * around->border);
    }
    if (is_conv)
        predict_set_conv(step, &work);
    else
        predict_set_linear(steps, step, &work);
    work.per_window = 1.0f / work.window, work.per_inside = 1.0f / (work.window * work.window);
    work.per_next_w = 1.0f / work.next_w, work.per_groups = 1.0f / work.groups;
    work.per_vectors = 1.0f / work.vectors, work.per_r = 1.0f / (step->r > 0 ? step->r : 1);
    return work;
}

// Lists each table once.
static inline void predict_list_tables(const heddle_predict_step *steps, predict_job *job)
{
    for (int i = 0; i < job->steps; i++) {
        bool known = steps[i].kind != HEDDLE_PREDICT_CONV;
        for (int table = 0; table < job->tables && !known; table++)
            known = steps[job->table_of[table]].taps == steps[i].taps;
        if (!known)
            job->table_of[job->tables++] = (short)i;
    }
}

// The steps' work. Units of a phase are spread over at most `most` blocks. Returns how many have some.
static inline int predict_share(const heddle_predict_step *steps, int most, predict_job *job)
{
    int blocks = 1, before = 0;
    for (int i = 0; i < job->steps; i++) {
        predict_work *work = &job->work[i];
        *work = predict_work_of(steps, i);
        if (i == job->steps - 1)
            work->units = 1, work->way = PREDICT_LAST;
        if (i > 0 && steps[i].phase != steps[i - 1].phase)
            before = 0;
        work->first = before;
        before += work->units;
        const int busy = before < most ? before : most;
        blocks = busy > blocks ? busy : blocks;
    }
    for (int i = 0; i < job->steps; i++)
        job->work[i].first %= blocks;
    return blocks;
}

static inline heddle_status predict_launch(void (*kernel)(predict_job), const char *rung, const heddle_call *call)
{
    const heddle_predict_one_shape *shape = (const heddle_predict_one_shape *)call->shape;
    const heddle_predict_step *steps = (const heddle_predict_step *)call->input[0];
    predict_job job = {};
    job.image = (const uint8_t *)call->input[1];
    job.weights = (const float *)call->input[2];
    job.probabilities = (float *)call->output[0];
    job.state = (int *)call->output[1];
    job.bank = shape->activations;
    job.steps = shape->steps, job.classes = shape->classes;
    const bool by_pixels = steps[0].kind == HEDDLE_PREDICT_CONV;
    job.image_c = by_pixels ? shape->c : 0;
    job.image_pixels = shape->h * shape->w * (by_pixels ? 1 : shape->c);
    job.image_w = shape->w, job.image_wide = shape->w + 2 * steps[0].edge;
    job.per_image_w = 1.0f / (float)shape->w;
    job.image_in = by_pixels ? predict_first_pixel(steps, -1, steps[0].edge) : 0;
    const cudaStream_t stream = heddle_cuda_stream_of(call);
    // Weights and state are read as vectors. Where they are not aligned, copies are.
    const size_t state_bytes = heddle_predict_state(shape) * sizeof(int);
    const bool copies_state = !heddle_aligned16(job.state);
    if (copies_state) {
        job.state = (int *)call->workspace;
        cudaMemcpyAsync(job.state, call->output[1], state_bytes, cudaMemcpyDeviceToDevice, stream);
    }
    if (!heddle_aligned16(job.weights)) {
        float *copy = (float *)call->workspace + heddle_predict_state(shape);
        cudaMemcpyAsync(copy, job.weights, shape->weights * sizeof(float), cudaMemcpyDeviceToDevice, stream);
        job.weights = copy;
    }
    predict_list_tables(steps, &job);
    const int most = heddle_cuda_multiprocessors();
    const int blocks = predict_share(steps, most < HEDDLE_PREDICT_TURNS ? most : HEDDLE_PREDICT_TURNS, &job);
    cudaLaunchAttribute together;
    together.id = cudaLaunchAttributeCooperative;
    together.val.cooperative = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(blocks);
    config.blockDim = dim3(PREDICT_THREADS);
    config.stream = stream;
    config.attrs = &together;
    config.numAttrs = 1;
    cudaLaunchKernelEx(&config, kernel, job);
    if (copies_state)
        cudaMemcpyAsync(call->output[1], job.state, state_bytes, cudaMemcpyDeviceToDevice, stream);
    return heddle_cuda_launched(rung);
}
