// scan, rung 4: a block loads its next tile while it waits for the sum before this one.
//
// A block of rung 3 waits for its ticket, then for its loads, then for the tiles before it. Only during the second wait
// does it have loads in flight. Here blocks stay and handle one tile after another, three at a time:
//
//   tile c is copied to shared memory by cp.async, which needs no registers and no thread that waits;
//   tile b has arrived, is scanned in registers, and has published its total;
//   tile a looks back, adds the sum before it and is stored.
//
// Then b takes the place of a, and c that of b. The next ticket is drawn one round before it is needed. A total is
// published one round before its tile looks back, so the tiles that look at it seldom wait.
//
// One block fills an SM. Several small ones have as many bytes in flight, but in more tiles, and each looks back past
// more that are unfinished.
//
// No block waits for a later tile: tickets ascend, and a block ends its tiles in their order. So the smallest
// unfinished tile is always the oldest of a running block, and all before it are done.
//
// A warp holds adjacent elements in rows of 128. A lane has four adjacent ones of each row, so that the 16 bytes it
// copies are the ones it reads and stores: the tile does not go through shared memory again.
//
// Limited by: memory bandwidth.

#include <cuda_pipeline.h>

#include "heddle/ops.h"
#include "ops/cuda/rung.h"
#include "ops/cuda/vector.h"
#include "ops/scan/look_back.h"
#include "ops/scan/scan.h"

enum {
    THREADS = 640,
    WARPS = THREADS / SCAN_WARP,
    ROW = SCAN_WARP * HEDDLE_VECTOR, // elements of a warp side by side
    MANY_VECTORS = 8,                // per thread
    FEW_VECTORS = 2,                 // where larger tiles would be too few
    WORDS_PER_LANE = 2,              // looked at at a time
};

template <int vectors> struct tile_of {
    enum { ITEMS = vectors * HEDDLE_VECTOR, SIZE = THREADS * ITEMS };
};

// Where this thread's vector `v` lies in its tile.
template <int vectors> __device__ static int place(int v)
{
    return (int)threadIdx.x / SCAN_WARP * (vectors * ROW) + v * ROW + (int)threadIdx.x % SCAN_WARP * HEDDLE_VECTOR;
}

// A tile's first element, and how many it has.
template <int vectors> __device__ static size_t first_of(int tile)
{
    return (size_t)tile * tile_of<vectors>::SIZE;
}
template <int vectors> __device__ static int count_of(int tile, int n)
{
    const size_t size = tile_of<vectors>::SIZE, left = (size_t)n - first_of<vectors>(tile);
    return (int)(left < size ? left : size);
}

// Starts the copies of a tile to shared memory. Each thread waits for its own.
template <bool aligned, int vectors>
__device__ static void start_loads(int n, const float *input, int tile, float *arriving)
{
    const float *from = input + first_of<vectors>(tile) + place<vectors>(0);
    float *to = arriving + place<vectors>(0);
    const int in_tile = count_of<vectors>(tile, n), count = in_tile - place<vectors>(0);
    if (aligned && in_tile == tile_of<vectors>::SIZE) {
#pragma unroll
        for (int v = 0; v < vectors; v++)
            __pipeline_memcpy_async(to + v * ROW, from + v * ROW, sizeof(float4));
    } else {
        for (int v = 0; v < vectors; v++)
            for (int at = v * ROW; at < v * ROW + HEDDLE_VECTOR; at++)
                if (at < count)
                    __pipeline_memcpy_async(to + at, from + at, sizeof(float));
                else
                    to[at] = 0;
    }
    __pipeline_commit();
}

template <bool aligned, int vectors>
__device__ static void store_tile(int n, float *output, int tile, const float *item, float before)
{
    float *to = output + first_of<vectors>(tile) + place<vectors>(0);
    const int count = count_of<vectors>(tile, n) - place<vectors>(0);
#pragma unroll
    for (int v = 0; v < vectors; v++)
        if (v * ROW + HEDDLE_VECTOR <= count) {
            const float *from = &item[v * HEDDLE_VECTOR];
            heddle_store4<aligned>(to + v * ROW,
                                   make_float4(before + from[0], before + from[1], before + from[2], before + from[3]));
        } else {
            for (int i = 0; i < HEDDLE_VECTOR; i++)
                if (v * ROW + i < count)
                    to[v * ROW + i] = before + item[v * HEDDLE_VECTOR + i];
        }
}

// Running sums over a warp's elements. Returns their total.
template <int vectors> __device__ static float scan_warp(float *item)
{
    int lane = threadIdx.x % SCAN_WARP;
    float sum[vectors]; // of this lane's vectors and those of the lanes before it
#pragma unroll
    for (int v = 0; v < vectors; v++) {
        for (int i = 1; i < HEDDLE_VECTOR; i++)
            item[v * HEDDLE_VECTOR + i] += item[v * HEDDLE_VECTOR + i - 1];
        sum[v] = item[v * HEDDLE_VECTOR + HEDDLE_VECTOR - 1];
    }
#pragma unroll
    for (int distance = 1; distance < SCAN_WARP; distance *= 2)
#pragma unroll
        for (int v = 0; v < vectors; v++) { // all rows at a time: a shuffle has a latency, too
            float other = __shfl_up_sync(SCAN_LANES, sum[v], distance);
            sum[v] += lane >= distance ? other : 0;
        }
    float of_rows = 0;
#pragma unroll
    for (int v = 0; v < vectors; v++) {
        float of_lanes = __shfl_up_sync(SCAN_LANES, sum[v], 1);
        float before = of_rows + (lane > 0 ? of_lanes : 0);
        for (int i = 0; i < HEDDLE_VECTOR; i++)
            item[v * HEDDLE_VECTOR + i] += before;
        of_rows += __shfl_sync(SCAN_LANES, sum[v], SCAN_WARP - 1);
    }
    return of_rows;
}

// The sum before this warp's elements of all warps' totals; *total: of all.
__device__ static float sum_warps(const float of_warp[WARPS], float *total)
{
    float before = 0;
    *total = 0;
#pragma unroll
    for (int w = 0; w < WARPS; w++) {
        if (w == (int)threadIdx.x / SCAN_WARP)
            before = *total;
        *total += of_warp[w];
    }
    return before;
}

// input, output: (n); words: (tiles), *ticket: all zero before the launch
template <bool aligned, int vectors>
__global__ void __launch_bounds__(THREADS, 1)
    scan_loads_ahead(int n, int tiles, const float *input, float *output, scan_word *words, unsigned *ticket)
{
    extern __shared__ __align__(16) float arriving[];
    __shared__ __align__(16) float of_warp[WARPS];
    __shared__ float shared_before;
    __shared__ int shared_ticket;
    const bool draws = threadIdx.x == THREADS - 1; // not in the warp that looks back
    if (draws)
        shared_ticket = (int)atomicAdd(ticket, 1u);
    __syncthreads();
    int coming = shared_ticket; // the tile that is copied; none from `tiles` on
    if (coming < tiles)
        start_loads<aligned, vectors>(n, input, coming, arriving);
    __syncthreads();
    if (draws)
        shared_ticket = tiles > (int)gridDim.x ? (int)atomicAdd(ticket, 1u) : tiles; // or one tile per block
    __syncthreads();

    int held = -1; // the tile that looks back, and what is known of it
    float held_total = 0, held_before = 0;
    __align__(16) float item[tile_of<vectors>::ITEMS];
    for (;;) {
        const int arrived = coming;
        __align__(16) float arrived_item[tile_of<vectors>::ITEMS];
        float total = 0, before_warp = 0;
        if (arrived < tiles) {
            __pipeline_wait_prior(0);
            __syncwarp(); // for the compiler alone: the copies are the thread's own, and no read may move before the
                          // wait
#pragma unroll
            for (int v = 0; v < vectors; v++)
                *(float4 *)&arrived_item[v * HEDDLE_VECTOR] = *(float4 *)&arriving[place<vectors>(v)];
            coming = shared_ticket;
            if (coming < tiles)
                start_loads<aligned, vectors>(n, input, coming, arriving);
            const float of_this_warp = scan_warp<vectors>(arrived_item);
            if (threadIdx.x % SCAN_WARP == 0)
                of_warp[threadIdx.x / SCAN_WARP] = of_this_warp;
        }
        __syncthreads(); // shared_before and shared_ticket have been read, too
        if (arrived < tiles) {
            before_warp = sum_warps(of_warp, &total);
            if (threadIdx.x == 0)
                scan_publish(&words[arrived], arrived == 0 ? SCAN_RUNNING_SUM : SCAN_TOTAL, total);
            if (draws && coming < tiles)
                shared_ticket = (int)atomicAdd(ticket, 1u);
        }

        if (held >= 0 && threadIdx.x < SCAN_WARP) {
            const float before = scan_look_back<WORDS_PER_LANE>(words, held);
            if (threadIdx.x == 0) {
                scan_publish(&words[held], SCAN_RUNNING_SUM, before + held_total);
                shared_before = before;
            }
        }
        __syncthreads(); // of_warp has been read, too
        if (held >= 0)
            store_tile<aligned, vectors>(n, output, held, item, shared_before + held_before);
        if (arrived >= tiles)
            break;

        held = arrived;
        held_total = total;
        held_before = before_warp;
#pragma unroll
        for (int i = 0; i < tile_of<vectors>::ITEMS; i++)
            item[i] = arrived_item[i];
    }
}

static_assert((int)tile_of<MANY_VECTORS>::SIZE * (int)sizeof(float) == (int)HEDDLE_SCAN_TILE_BYTES, "as promised");

// Blocks that run at the same time.
static unsigned most_blocks()
{
#if defined(HEDDLE_SIM_MODULE)
    return 3; // each has several tiles of the small shapes that are tested there
#else
    return (unsigned)heddle_cuda_multiprocessors();
#endif
}

template <int vectors>
static void queue(int n, const float *input, float *output, scan_word *words, cudaStream_t stream)
{
    const unsigned tiles = heddle_ceil_div(n, tile_of<vectors>::SIZE);
    const unsigned blocks = tiles < most_blocks() ? tiles : most_blocks();
    const int bytes = tile_of<vectors>::SIZE * (int)sizeof(float);
    const bool aligned = heddle_aligned16(input) && heddle_aligned16(output);
    auto kernel = aligned ? scan_loads_ahead<true, vectors> : scan_loads_ahead<false, vectors>;
    cudaMemsetAsync(words, 0, (tiles + 1) * sizeof(scan_word), stream);
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    kernel<<<blocks, THREADS, bytes, stream>>>(n, (int)tiles, input, output, words, (unsigned *)(words + tiles));
}

static heddle_status launch(const heddle_call *call)
{
    const int n = ((const heddle_elements_shape *)call->shape)->n;
    const float *input = (const float *)call->input[0];
    float *output = (float *)call->output[0];
    scan_word *words = (scan_word *)call->workspace;
    cudaStream_t stream = heddle_cuda_stream_of(call); // which also makes its device the current one
    if (n == 0)
        return HEDDLE_OK;
    if (n / tile_of<MANY_VECTORS>::SIZE >= 2 * (int)most_blocks())
        queue<MANY_VECTORS>(n, input, output, words, stream);
    else
        queue<FEW_VECTORS>(n, input, output, words, stream);
    return heddle_cuda_launched("04_loads_ahead");
}

HEDDLE_CUDA_RUNG("scan", "04_loads_ahead", launch)
