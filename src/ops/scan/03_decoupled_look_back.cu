// scan, rung 3: one pass over memory (Merrill and Garland, 2016).
//
// Rung 2 read the elements twice, because a tile had to wait for all tiles before it. Here a tile publishes its own
// total as soon as it is known. It then looks back tile by tile, adding totals, until it finds a tile that has already
// published its running sum. Then it publishes its own running sum. A tile waits only for what is really missing.
//
// A counter hands out tiles in the order in which blocks start, so a tile only looks back at tiles that are running or
// done. Which totals a tile finds, and so the order of the additions, is not defined: the last bits differ from run to
// run.
//
// Limited by: latency. A block waits for its ticket, then for its loads, then for the tiles before it, and has loads in
// flight during one of these three waits only.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"
#include "ops/cuda/vector.h"
#include "ops/scan/look_back.h"

enum {
    THREADS = 256,
    ITEMS = 16, // per thread, in four vectors
    TILE = THREADS * ITEMS,
    WARPS = THREADS / SCAN_WARP,
    VECTORS = ITEMS / HEDDLE_VECTOR,
};

// The sum of `value` over all threads before this one; *total over all. Call it once per kernel: no barrier protects
// its shared memory for reuse.
__device__ static float scan_block(float value, float *total)
{
    __shared__ float of_warp[WARPS];
    int lane = threadIdx.x % SCAN_WARP, warp = threadIdx.x / SCAN_WARP;
    float sum = value;
    for (int distance = 1; distance < SCAN_WARP; distance *= 2) {
        float other = __shfl_up_sync(SCAN_LANES, sum, distance);
        if (lane >= distance)
            sum += other;
    }
    if (lane == SCAN_WARP - 1)
        of_warp[warp] = sum;
    __syncthreads();
    float before = 0;
    *total = 0;
    for (int w = 0; w < WARPS; w++) {
        if (w == warp)
            before = *total;
        *total += of_warp[w];
    }
    return before + (sum - value);
}

// A thread's ITEMS elements are adjacent, so that it can add them. Global memory is read and written in rows of vectors
// through shared memory. On the side where a thread has a row, the pitch puts one vector of each of eight neighbouring
// rows on all 32 banks. On the other side, eight lanes have two rows, and conflict twice on four banks.
enum { PITCH = ITEMS + 4 };

template <bool aligned>
__device__ static void load_tile(int n, const float *input, long long first, float (*rows)[PITCH], float item[ITEMS])
{
#pragma unroll
    for (int v = 0; v < VECTORS; v++) {
        int at = HEDDLE_VECTOR * (threadIdx.x + v * THREADS);
        float4 value = make_float4(0, 0, 0, 0);
        if (first + at + HEDDLE_VECTOR <= n)
            value = heddle_load4<aligned>(input + first + at);
        else
            for (int i = 0; i < HEDDLE_VECTOR && first + at + i < n; i++)
                ((float *)&value)[i] = input[first + at + i];
        *(float4 *)&rows[at / ITEMS][at % ITEMS] = value;
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < ITEMS; i += HEDDLE_VECTOR)
        *(float4 *)&item[i] = *(float4 *)&rows[threadIdx.x][i];
}

template <bool aligned>
__device__ static void store_tile(int n, float *output, long long first, float (*rows)[PITCH], const float item[ITEMS])
{
#pragma unroll
    for (int i = 0; i < ITEMS; i += HEDDLE_VECTOR)
        *(float4 *)&rows[threadIdx.x][i] = *(const float4 *)&item[i];
    __syncthreads();
#pragma unroll
    for (int v = 0; v < VECTORS; v++) {
        int at = HEDDLE_VECTOR * (threadIdx.x + v * THREADS);
        float4 value = *(float4 *)&rows[at / ITEMS][at % ITEMS];
        if (first + at + HEDDLE_VECTOR <= n)
            heddle_store4<aligned>(output + first + at, value);
        else
            for (int i = 0; i < HEDDLE_VECTOR && first + at + i < n; i++)
                output[first + at + i] = ((float *)&value)[i];
    }
}

// input, output: (n); words: (tiles), *ticket: all zero before the launch
template <bool aligned>
__global__ void __launch_bounds__(THREADS)
    scan_decoupled_look_back(int n, const float *input, float *output, scan_word *words, unsigned *ticket)
{
    __shared__ __align__(16) float rows[THREADS][PITCH];
    __shared__ int shared_tile;
    __shared__ float shared_before;
    if (threadIdx.x == 0)
        shared_tile = (int)atomicAdd(ticket, 1u);
    __syncthreads();
    int tile = shared_tile;
    long long first = (long long)tile * TILE;

    __align__(16) float item[ITEMS];
    load_tile<aligned>(n, input, first, rows, item);
#pragma unroll
    for (int i = 1; i < ITEMS; i++)
        item[i] += item[i - 1];
    float total;
    float before_thread = scan_block(item[ITEMS - 1], &total);

    if (threadIdx.x < SCAN_WARP) {
        if (threadIdx.x == 0)
            scan_publish(&words[tile], tile == 0 ? SCAN_RUNNING_SUM : SCAN_TOTAL, total);
        float before = tile == 0 ? 0 : scan_look_back<1>(words, tile);
        if (threadIdx.x == 0) {
            if (tile > 0)
                scan_publish(&words[tile], SCAN_RUNNING_SUM, before + total);
            shared_before = before;
        }
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
        item[i] += shared_before + before_thread;
    store_tile<aligned>(n, output, first, rows, item);
}

static heddle_status launch(const heddle_call *call)
{
    int n = ((const heddle_elements_shape *)call->shape)->n;
    const float *input = (const float *)call->input[0];
    float *output = (float *)call->output[0];
    unsigned tiles = heddle_ceil_div(n, TILE);
    if (tiles == 0)
        return HEDDLE_OK;
    scan_word *words = (scan_word *)call->workspace;
    unsigned *ticket = (unsigned *)(words + tiles);
    cudaMemsetAsync(words, 0, (tiles + 1) * sizeof(scan_word), heddle_cuda_stream_of(call));
    bool aligned = heddle_aligned16(input) && heddle_aligned16(output);
    (aligned ? scan_decoupled_look_back<true>
             : scan_decoupled_look_back<false>)<<<tiles, THREADS, 0, heddle_cuda_stream_of(call)>>>(n, input, output,
                                                                                                    words, ticket);
    return heddle_cuda_launched("03_decoupled_look_back");
}

HEDDLE_CUDA_RUNG("scan", "03_decoupled_look_back", launch)
