// rows_weights, rows_collect, rows_update, rung 1: one block per tile of a parameter.
//
// The parts of a gradient and the copy of a weight are (row, tap, channel), the parameter is (row, channel, tap). A
// tile is 32 taps by 32 channels of one row. Gradients are added in the first order and transposed in shared memory;
// the optimiser's step is taken in the second order, and the copy is made in the first again, so that every access
// covers whole cache lines. With one tap nothing needs transposing, and a tile is 1024 elements, four per thread. If a
// tile has many parts, the warps share them, and with one tap it has 32 elements: adding hundreds of parts one after
// another takes longer than all the rest. Every warp finds the block's segment by one load per lane.
//
// Limited by: memory bandwidth.

#include "ops/cuda/dependent.h"
#include "ops/cuda/rows8.h"
#include "ops/cuda/rung.h"
#include "ops/rows_update/rows_update.h"
#include "ops/rows_update/value.h"

typedef heddle_rows_update_shape update_shape;

struct update_operands : update_arrays { // parameters: the gradients, for rows_collect
    const int32_t *table;
    const float *parts, *hyper;
    float *vectors;
    void *copies;
};

enum {
    TILE = HEDDLE_SEGMENT_TILE,
    WARPS = 8,
    THREADS = WARPS * 32,
    TILE_LINES = TILE / WARPS, // of a warp
    MANY_LINES = 9,            // taps of a 3x3 filter
};

// A segment, and the first element of a tile of it.
struct update_tile {
    int parameter, k, c, taps, padded_k, padded_c, parts, part, copy, vector, columns;
    int row, tap, channel; // of a tile of a row; with one tap, `row` is the tile's number
};

// The segment of a tile, found by a whole warp: each lane looks at every 32nd segment, so that no load waits for
// another.
__device__ static int segment_of(const int32_t *table, int segments, int number)
{
    int before = 0; // segments that begin at or before the tile
    for (int i = (int)threadIdx.x % 32; i < segments; i += 32)
        before += table[i * HEDDLE_SEGMENT_FIELDS + HEDDLE_SEGMENT_FIRST] <= number;
    return __reduce_add_sync(~0u, before) - 1;
}

__device__ static update_tile tile_of(const int32_t *table, int segments, int number)
{
    const int32_t *segment = table + segment_of(table, segments, number) * HEDDLE_SEGMENT_FIELDS;
    update_tile tile;
    tile.parameter = segment[HEDDLE_SEGMENT_PARAMETER];
    tile.k = segment[HEDDLE_SEGMENT_K];
    tile.c = segment[HEDDLE_SEGMENT_C];
    tile.taps = segment[HEDDLE_SEGMENT_TAPS];
    tile.padded_k = segment[HEDDLE_SEGMENT_PADDED_K];
    tile.padded_c = segment[HEDDLE_SEGMENT_PADDED_C];
    tile.parts = segment[HEDDLE_SEGMENT_PARTS];
    tile.part = segment[HEDDLE_SEGMENT_PART];
    tile.copy = segment[HEDDLE_SEGMENT_COPY];
    tile.vector = segment[HEDDLE_SEGMENT_VECTOR];
    tile.columns = segment[HEDDLE_SEGMENT_COLUMNS];
    const int in_segment = number - segment[HEDDLE_SEGMENT_FIRST];
    const int across = (tile.padded_c + TILE - 1) / TILE, down = (tile.taps + TILE - 1) / TILE;
    tile.channel = tile.taps == 1 ? 0 : in_segment % across * TILE;
    tile.tap = tile.taps == 1 ? 0 : in_segment / across % down * TILE;
    tile.row = tile.taps == 1 ? in_segment : in_segment / across / down;
    return tile;
}

// The sum of the parts of element `i` of the segment.
__device__ static float gradient_of(const update_tile &tile, const float *parts, int i)
{
    const size_t stride = (size_t)tile.padded_k * tile.taps * tile.padded_c;
    const float *from = parts + tile.part + i;
    float sum = 0;
#pragma unroll 8
    for (int part = 0; part < tile.parts; part++)
        sum += from[part * stride];
    return sum;
}

template <typename Element, job_kind Kind>
__device__ static void store_copies(const update_tile &tile, const update_operands &on, int i, float value)
{
    if (Kind == COLLECT)
        return;
    if (tile.copy >= 0)
        rows_write_at((Element *)on.copies + tile.copy / rows_layout<Element>::ELEMENTS, i, i / tile.columns,
                      tile.columns, value);
    if (tile.vector >= 0 && on.vectors)
        on.vectors[tile.vector + i] = value;
}

// Adds the gradients of `lines` lines of 32 elements, `pitch` apart, starting at `first`, into `turned`. If there are
// many parts, each warp adds every n-th of them for all lines, and then the warps' sums are added in order. shares:
// (WARPS, MANY_LINES, TILE)
__device__ static void add_lines(const update_tile &tile, const float *parts, int first, int lines, int pitch,
                                 int width, float (*turned)[TILE + 1], float (*shares)[MANY_LINES][TILE])
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const size_t stride = (size_t)tile.padded_k * tile.taps * tile.padded_c;
    if (tile.parts < WARPS || lines > MANY_LINES) {
        const float *from = parts + tile.part + first + warp * pitch + lane; // this warp's lines: every eighth
        float sums[TILE_LINES] = {};
        for (int part = 0; part < tile.parts; part++, from += stride)
#pragma unroll
            for (int i = 0; i < TILE_LINES; i++)
                if (warp + i * WARPS < lines && lane < width)
                    sums[i] += from[i * WARPS * pitch];
#pragma unroll
        for (int i = 0; i < TILE_LINES; i++)
            turned[warp + i * WARPS][lane] = sums[i];
        return;
    }
    float sums[MANY_LINES] = {};
#pragma unroll 2
    for (int part = warp; part < tile.parts; part += WARPS)
#pragma unroll
        for (int line = 0; line < MANY_LINES; line++)
            if (line < lines && lane < width)
                sums[line] += parts[tile.part + part * stride + first + line * pitch + lane];
#pragma unroll
    for (int line = 0; line < MANY_LINES; line++)
        shares[warp][line][lane] = sums[line];
    __syncthreads();
    for (int i = threadIdx.x; i < lines * TILE; i += THREADS) {
        float sum = 0;
        for (int from = 0; from < WARPS; from++)
            sum += shares[from][i / TILE][i % TILE];
        turned[i / TILE][i % TILE] = sum;
    }
}

// Four elements of a segment with one tap, from `i` on, that are four of the parameter too.
template <typename Element, job_kind Kind, int Optimizer>
__device__ static void do_four(const update_tile &tile, const update_operands &on, const float *hyper, int i)
{
    const size_t stride = (size_t)tile.padded_k * tile.padded_c, at = (size_t)tile.parameter + i;
    const float4 *from = (const float4 *)(on.parts + tile.part + i);
    const bool there = i / tile.padded_c < tile.k;
    update_four<Kind, Optimizer> four = {};
    float4 sum = {};
    if (there)
        four.load(on, at);
    if (Kind != WEIGHTS)
#pragma unroll 8
        for (int part = 0; part < tile.parts; part++) {
            const float4 one = from[part * stride / 4];
            sum.x += one.x, sum.y += one.y, sum.z += one.z, sum.w += one.w;
        }
    if (there) {
        four.step(on, sum, hyper);
        four.store(on, at);
    }
    if (Kind == COLLECT)
        return;
    if (tile.copy >= 0)
        rows_write_four((Element *)on.copies + tile.copy / rows_layout<Element>::ELEMENTS, i, i / tile.columns,
                        tile.columns, four.value);
    if (tile.vector >= 0 && on.vectors)
        *(float4 *)(on.vectors + tile.vector + i) = four.value;
}

// Whether four elements at a time are in reach of one access each, in all that the segment is stored in.
__device__ static bool by_fours(const update_tile &tile, const update_operands &on)
{
    const uintptr_t places = (uintptr_t)(on.parts + tile.part) | (uintptr_t)(on.parameters + tile.parameter) |
                             (on.first_moment ? (uintptr_t)(on.first_moment + tile.parameter) : 0) |
                             (on.second_moment ? (uintptr_t)(on.second_moment + tile.parameter) : 0) |
                             (tile.vector >= 0 ? (uintptr_t)(on.vectors + tile.vector) : 0) |
                             (tile.copy >= 0 ? 2 * (uintptr_t)((const uint16_t *)on.copies + tile.copy) : 0);
    return tile.c == tile.padded_c && tile.c % 4 == 0 && tile.columns % 4 == 0 && places % sizeof(float4) == 0;
}

// One element of a segment with one tap.
template <typename Element, job_kind Kind, int Optimizer>
__device__ static void do_one(const update_tile &tile, const update_operands &on, const float *hyper, int i,
                              float gradient)
{
    const int row = i / tile.padded_c, channel = i % tile.padded_c;
    const size_t at = tile.parameter + (size_t)row * tile.c + channel;
    update_value<Kind, Optimizer> one = {};
    if (row < tile.k && channel < tile.c) {
        one.load(on, at);
        one.step(on, gradient, hyper);
        one.store(on, at);
    }
    store_copies<Element, Kind>(tile, on, i, one.value);
}

// A tile of one element per lane with many parts: each warp adds every n-th of them, and then the warps' sums are added
// in order.
template <typename Element, job_kind Kind, int Optimizer>
__device__ static void do_few(const update_tile &tile, const update_operands &on, const float *hyper, int first,
                              int all, float (*shares)[MANY_LINES][TILE])
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, i = first + lane;
    float sum = 0;
    if (Kind != WEIGHTS && i < all)
#pragma unroll 8
        for (int part = warp; part < tile.parts; part += WARPS)
            sum += on.parts[tile.part + (size_t)part * all + i];
    shares[warp][0][lane] = sum;
    __syncthreads();
    if (warp > 0 || i >= all)
        return;
    sum = 0;
    for (int from = 0; from < WARPS; from++)
        sum += shares[from][0][lane];
    do_one<Element, Kind, Optimizer>(tile, on, hyper, i, sum);
}

// One tap: both orders are the same except for the padding.
template <typename Element, job_kind Kind, int Optimizer>
__device__ static void do_flat(const update_tile &tile, const update_operands &on, const float *hyper,
                               float (*shares)[MANY_LINES][TILE])
{
    const int all = tile.padded_k * tile.padded_c, size = heddle_segment_flat(tile.parts), first = tile.row * size;
    const int end = min(all, first + size);
    if (size == TILE) {
        do_few<Element, Kind, Optimizer>(tile, on, hyper, first, all, shares);
    } else if (by_fours(tile, on)) {
        if (first + 4 * (int)threadIdx.x < end)
            do_four<Element, Kind, Optimizer>(tile, on, hyper, first + 4 * (int)threadIdx.x);
    } else {
        for (int i = first + (int)threadIdx.x; i < end; i += THREADS)
            do_one<Element, Kind, Optimizer>(tile, on, hyper, i, Kind == WEIGHTS ? 0 : gradient_of(tile, on.parts, i));
    }
}

// A thread's elements of a tile in the order of the parameter: every 256th, from its own on.
struct tile_places {
    size_t at[TILE_LINES];
    int tap[TILE_LINES], channel[TILE_LINES];   // of the tile
    bool there[TILE_LINES], inside[TILE_LINES]; // there: of the parameter; inside: of the tile

    __device__ tile_places(const update_tile &tile, int taps, int channels)
    {
        const unsigned factor = (0x10000u + taps - 1) / taps; // for numbers below 1024, this divides exactly
#pragma unroll
        for (int j = 0; j < TILE_LINES; j++) {
            const int i = (int)threadIdx.x + j * THREADS;
            channel[j] = (int)(i * factor >> 16);
            tap[j] = i - channel[j] * taps;
            inside[j] = i < channels * taps;
            there[j] = inside[j] && tile.row < tile.k && tile.channel + channel[j] < tile.c;
            at[j] = tile.parameter + ((size_t)tile.row * tile.c + tile.channel + channel[j]) * tile.taps + tile.tap +
                    tap[j];
        }
    }
};

// A tile of one row. turned: (TILE, TILE + 1), taps by channels
template <typename Element, job_kind Kind, int Optimizer>
__device__ static void do_tile(const update_tile &tile, const update_operands &on, const float *hyper,
                               float (*turned)[TILE + 1], float (*shares)[MANY_LINES][TILE])
{
    const int taps = min((int)TILE, tile.taps - tile.tap), channels = min((int)TILE, tile.padded_c - tile.channel);
    const int first = (tile.row * tile.taps + tile.tap) * tile.padded_c + tile.channel;
    const tile_places places(tile, taps, channels);
    update_value<Kind, Optimizer> mine[TILE_LINES] = {};
#pragma unroll
    for (int j = 0; j < TILE_LINES; j++)
        if (places.there[j])
            mine[j].load(on, places.at[j]);
    if (Kind != WEIGHTS)
        add_lines(tile, on.parts, first, taps, tile.padded_c, channels, turned, shares);
    __syncthreads();
#pragma unroll
    for (int j = 0; j < TILE_LINES; j++) {
        if (places.there[j]) {
            mine[j].step(on, Kind == WEIGHTS ? 0 : turned[places.tap[j]][places.channel[j]], hyper);
            mine[j].store(on, places.at[j]);
        }
        if (places.inside[j])
            turned[places.tap[j]][places.channel[j]] = mine[j].value;
    }
    __syncthreads();
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int line = threadIdx.x / 32; line < TILE; line += WARPS)
        if (line < taps && lane < channels)
            store_copies<Element, Kind>(tile, on, first + line * tile.padded_c + lane, turned[line][lane]);
}

template <typename Element, job_kind Kind, int Optimizer>
__global__ void __launch_bounds__(THREADS, 3) rows_update(const update_shape shape, const update_operands on)
{
    __shared__ float turned[TILE][TILE + 1], shares[WARPS][MANY_LINES][TILE], hyper[HEDDLE_HYPER_COUNT];
    const update_tile tile = tile_of(on.table, shape.segments, blockIdx.x); // the table never changes: no need to wait
    heddle_wait_for_previous();
    heddle_release_next();
    if (Kind == UPDATE && threadIdx.x < HEDDLE_HYPER_COUNT)
        hyper[threadIdx.x] = on.hyper[threadIdx.x];
    __syncthreads();
    if (tile.taps == 1)
        do_flat<Element, Kind, Optimizer>(tile, on, hyper, shares);
    else
        do_tile<Element, Kind, Optimizer>(tile, on, hyper, turned, shares);
}

template <job_kind Kind, int Optimizer>
static heddle_status launch_kernel(const heddle_call *call, const update_operands &on)
{
    const update_shape *shape = (const update_shape *)call->shape;
    heddle_cuda_launch_dependent(shape->pairs  ? rows_update<rows_pair, Kind, Optimizer>
                                 : shape->half ? rows_update<__half, Kind, Optimizer>
                                               : rows_update<__nv_bfloat16, Kind, Optimizer>,
                                 dim3(shape->tiles), dim3(THREADS), 0, heddle_cuda_stream_of(call), *shape, on);
    return heddle_cuda_launched("01_tiles");
}

static float unit_of(const heddle_call *call)
{
    return ldexpf(1.0f, -((const update_shape *)call->shape)->scale);
}

static heddle_status launch_weights(const heddle_call *call)
{
    update_operands on = {};
    on.table = (const int32_t *)call->input[0];
    on.parameters = (float *)call->input[1];
    on.copies = call->output[0];
    on.vectors = (float *)call->output[1];
    return launch_kernel<WEIGHTS, 0>(call, on);
}

static heddle_status launch_collect(const heddle_call *call)
{
    update_operands on = {};
    on.table = (const int32_t *)call->input[0];
    on.parts = (const float *)call->input[1];
    on.parameters = (float *)call->output[0];
    on.unit = unit_of(call);
    return launch_kernel<COLLECT, 0>(call, on);
}

static heddle_status launch_update(const heddle_call *call)
{
    const update_shape *shape = (const update_shape *)call->shape;
    update_operands on = {};
    on.table = (const int32_t *)call->input[0];
    on.parts = (const float *)call->input[1];
    on.hyper = (const float *)call->input[2];
    on.parameters = (float *)call->output[0];
    on.copies = call->output[1];
    on.vectors = (float *)call->output[2];
    on.first_moment = (float *)call->output[3];
    on.second_moment = (float *)call->output[4];
    on.unit = unit_of(call);
    const int optimizer = heddle_rows_optimizer(shape->optimizer, on.first_moment, on.second_moment);
    return optimizer == 0   ? launch_kernel<UPDATE, 0>(call, on)
           : optimizer == 1 ? launch_kernel<UPDATE, 1>(call, on)
                            : launch_kernel<UPDATE, 2>(call, on);
}

HEDDLE_CUDA_RUNG("rows_weights", "01_tiles", launch_weights)
HEDDLE_CUDA_RUNG("rows_collect", "01_tiles", launch_collect)
HEDDLE_CUDA_RUNG("rows_update", "01_tiles", launch_update)
