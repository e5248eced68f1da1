// select, rung 3: one pass over memory. A tile looks back for the number selected before it, as in scan's rung 3.
//
// Rung 2 read the input twice, because a tile had to know the totals of all before it. Here a tile publishes how many
// it has selected, and one of its warps adds up the tiles before it (ops/scan/look_back.h). Meanwhile the other warps
// bring the selected elements together in shared memory, so that they leave in full rows of a warp. A tile's zeros come
// from the end of the output: it knows how many before it were not selected, too.
//
// Elements are loaded 16 bytes at a time: a lane has four adjacent ones, and the warp votes on each of the four.
//
// Limited by: latency. A block waits for its ticket, its loads and the tiles before it, one after another.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"
#include "ops/cuda/vector.h"
#include "ops/scan/look_back.h"

enum {
    THREADS = 256,
    ROWS = 4, // of a warp, one vector per lane each
    ITEMS = ROWS * HEDDLE_VECTOR,
    TILE = THREADS * ITEMS,
    WARPS = THREADS / SCAN_WARP,
};

// What this lane has: ITEMS elements, and a bit for each that is selected.
typedef struct held {
    float4 value[ROWS];
    unsigned flags[ROWS]; // bit e: element e of the row's vector
    int begins[ROWS];     // how many the warp has selected before this lane's vector
} held;

// The number of the first element of this lane's vector of a row, in its tile.
__device__ static int place_of(int row)
{
    const int lane = threadIdx.x % SCAN_WARP, warp = threadIdx.x / SCAN_WARP;
    return ((warp * ROWS + row) * SCAN_WARP + lane) * HEDDLE_VECTOR;
}

// `input` and `left` are from the tile's first element on.
template <bool aligned> __device__ static void load(const float *input, int left, held *mine)
{
#pragma unroll
    for (int row = 0; row < ROWS; row++) {
        const int at = place_of(row);
        mine->value[row] = make_float4(0, 0, 0, 0);
        if (at + HEDDLE_VECTOR <= left)
            mine->value[row] = heddle_load4<aligned>(input + at);
        else
            for (int e = 0; e < HEDDLE_VECTOR && at + e < left; e++)
                ((float *)&mine->value[row])[e] = input[at + e];
    }
}

// Returns how many the warp has selected.
__device__ static int vote(float threshold, int left, held *mine)
{
    const unsigned below = (1u << threadIdx.x % SCAN_WARP) - 1;
    int selected = 0;
#pragma unroll
    for (int row = 0; row < ROWS; row++) {
        mine->flags[row] = 0;
        mine->begins[row] = selected;
#pragma unroll
        for (int e = 0; e < HEDDLE_VECTOR; e++) {
            const bool above = place_of(row) + e < left && ((const float *)&mine->value[row])[e] > threshold;
            const unsigned lanes = __ballot_sync(SCAN_LANES, above);
            mine->flags[row] |= (unsigned)above << e;
            mine->begins[row] += __popc(lanes & below);
            selected += __popc(lanes);
        }
    }
    return selected;
}

// Brings the selected elements together, from this warp's first place on.
__device__ static void compact(const held &mine, float *chosen)
{
#pragma unroll
    for (int row = 0; row < ROWS; row++) {
        int place = mine.begins[row];
#pragma unroll
        for (int e = 0; e < HEDDLE_VECTOR; e++)
            if (mine.flags[row] >> e & 1)
                chosen[place++] = ((const float *)&mine.value[row])[e];
    }
}

// input, output: (n); words: (tiles), *ticket: all zero before the launch
template <bool aligned>
__global__ void __launch_bounds__(THREADS)
    select_look_back(heddle_select_shape shape, const float *input, float *output, int *count, scan_word *words,
                     unsigned *ticket)
{
    __shared__ float chosen[TILE];
    __shared__ int of_warp[WARPS], shared_tile, shared_before;
    const int warp = threadIdx.x / SCAN_WARP;
    if (threadIdx.x == 0)
        shared_tile = (int)atomicAdd(ticket, 1u);
    __syncthreads();
    const int tile = shared_tile;
    const size_t first = (size_t)tile * TILE, n = shape.n;
    const int left = n - first < TILE ? (int)(n - first) : TILE;

    held mine;
    load<aligned>(input + first, left, &mine);
    const int of_this_warp = vote(shape.threshold, left, &mine);
    if (threadIdx.x % SCAN_WARP == 0)
        of_warp[warp] = of_this_warp;
    __syncthreads();
    int before_warp = 0, total = 0;
    for (int w = 0; w < WARPS; w++) {
        before_warp += w < warp ? of_warp[w] : 0;
        total += of_warp[w];
    }
    if (threadIdx.x == 0)
        scan_publish(&words[tile], tile == 0 ? SCAN_RUNNING_SUM : SCAN_TOTAL, total);
    compact(mine, chosen + before_warp);
    if (warp == 0) {
        const int before = tile == 0 ? 0 : scan_look_back<1, int>(words, tile);
        if (threadIdx.x == 0) {
            if (tile > 0)
                scan_publish(&words[tile], SCAN_RUNNING_SUM, before + total);
            if (first + left == n)
                *count = before + total;
            shared_before = before;
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < total; i += THREADS)
        output[shared_before + i] = chosen[i];
    const int zeros = left - total;
    float *end = output + n - (first - shared_before); // before it are this tile's zeros
    for (int i = threadIdx.x; i < zeros; i += THREADS)
        end[i - zeros] = 0;
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_select_shape *shape = (const heddle_select_shape *)call->shape;
    const float *input = (const float *)call->input[0];
    float *output = (float *)call->output[0];
    int *count = (int *)call->output[1];
    cudaStream_t stream = heddle_cuda_stream_of(call);
    const unsigned tiles = heddle_ceil_div(shape->n, TILE);
    if (tiles == 0) {
        cudaMemsetAsync(count, 0, sizeof *count, stream);
        return heddle_cuda_launched("03_decoupled_look_back");
    }
    scan_word *words = (scan_word *)call->workspace;
    unsigned *ticket = (unsigned *)(words + tiles);
    cudaMemsetAsync(words, 0, (tiles + 1) * sizeof(scan_word), stream);
    (heddle_aligned16(input) ? select_look_back<true> : select_look_back<false>)<<<tiles, THREADS, 0, stream>>>(
        *shape, input, output, count, words, ticket);
    return heddle_cuda_launched("03_decoupled_look_back");
}

HEDDLE_CUDA_RUNG("select", "03_decoupled_look_back", launch)
