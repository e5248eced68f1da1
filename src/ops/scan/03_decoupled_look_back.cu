// scan, rung 3: one pass over memory (Merrill and Garland, 2016).
//
// Rung 2 read the elements twice, because a tile had to wait for all tiles before it. Here a tile publishes its own
// total as soon as it is known. It then looks back tile by tile, adding totals, until it finds a tile that has already
// published its running sum. Then it publishes its own running sum. A tile waits only for what is really missing.
//
// A tile's word holds its value and its state in 64 bits, written in one step, so no reader sees one without the other.
// A counter hands out tiles in the order in which blocks start, so a tile only looks back at tiles that are running or
// done. Which totals a tile finds, and so the order of the additions, is not defined: the last bits differ from run to
// run.
//
// Limited by: memory bandwidth; at the start, the chain of look-backs.

#include <cuda/atomic>

#include "heddle/ops.h"
#include "ops/cuda/rung.h"
#include "ops/cuda/vector.h"

enum {
    THREADS = 256,
    ITEMS = 16, // per thread, in four vectors
    TILE = THREADS * ITEMS,
    WARP = 32,
    WARPS = THREADS / WARP,
    VECTORS = ITEMS / HEDDLE_VECTOR,
};
static const unsigned ALL_LANES = 0xffffffffu;

typedef unsigned long long tile_word;
enum { NOTHING = 0, TOTAL = 1, RUNNING_SUM = 2 }; // what a tile has published: the upper half of its word

__device__ static tile_word pack(unsigned state, float value)
{
    return (tile_word)state << 32 | __float_as_uint(value);
}

__device__ static void publish(tile_word *word, unsigned state, float value)
{
    cuda::atomic_ref<tile_word, cuda::thread_scope_device>(*word).store(pack(state, value), cuda::memory_order_relaxed);
}

__device__ static tile_word look(tile_word *word)
{
    return cuda::atomic_ref<tile_word, cuda::thread_scope_device>(*word).load(cuda::memory_order_relaxed);
}

// The sum of everything before `tile`, found by one warp: each lane looks at one of the 32 tiles before it, until one
// of them has a running sum.
__device__ static float look_back(tile_word *words, int tile)
{
    int lane = threadIdx.x % WARP;
    float before = 0;
    for (int last = tile - 1;; last -= WARP) {
        tile_word word = pack(RUNNING_SUM, 0); // nothing comes before the first tile
        if (last - lane >= 0)
            while ((word = look(&words[last - lane])) >> 32 == NOTHING)
                __nanosleep(20);
        unsigned complete = __ballot_sync(ALL_LANES, word >> 32 == RUNNING_SUM);
        int nearest = complete ? __ffs(complete) - 1 : WARP - 1; // lanes further back are included in its running sum
        float value = lane <= nearest ? __uint_as_float((unsigned)word) : 0;
        for (int distance = WARP / 2; distance > 0; distance /= 2)
            value += __shfl_xor_sync(ALL_LANES, value, distance);
        before += value;
        if (complete)
            return before;
    }
}

// The sum of `value` over all threads before this one; *total over all. Call it once per kernel: no barrier protects
// its shared memory for reuse.
__device__ static float scan_block(float value, float *total)
{
    __shared__ float of_warp[WARPS];
    int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    float sum = value;
    for (int distance = 1; distance < WARP; distance *= 2) {
        float other = __shfl_up_sync(ALL_LANES, sum, distance);
        if (lane >= distance)
            sum += other;
    }
    if (lane == WARP - 1)
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
    scan_decoupled_look_back(int n, const float *input, float *output, tile_word *words, unsigned *ticket)
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

    if (threadIdx.x < WARP) {
        if (threadIdx.x == 0)
            publish(&words[tile], tile == 0 ? RUNNING_SUM : TOTAL, total);
        float before = tile == 0 ? 0 : look_back(words, tile);
        if (threadIdx.x == 0) {
            if (tile > 0)
                publish(&words[tile], RUNNING_SUM, before + total);
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
    tile_word *words = (tile_word *)call->workspace;
    unsigned *ticket = (unsigned *)(words + tiles);
    cudaMemsetAsync(words, 0, (tiles + 1) * sizeof(tile_word), heddle_cuda_stream_of(call));
    bool aligned = heddle_aligned16(input) && heddle_aligned16(output);
    (aligned ? scan_decoupled_look_back<true>
             : scan_decoupled_look_back<false>)<<<tiles, THREADS, 0, heddle_cuda_stream_of(call)>>>(n, input, output,
                                                                                                    words, ticket);
    return heddle_cuda_launched("03_decoupled_look_back");
}

HEDDLE_CUDA_RUNG("scan", "03_decoupled_look_back", launch)
