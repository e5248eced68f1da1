// select, rung 2: a vote of a warp counts 32 flags at once, so no place is stored.
//
// Rung 1 scanned flags in shared memory and kept their sums in global memory. __ballot_sync gives every lane the flags
// of its warp as 32 bits: how many of a lane's lower bits are set (__popc) is its place within the warp. That is so
// cheap that it is done twice: a first kernel only counts each tile, and a last one votes again and moves. A warp has
// 16 rows of 32 adjacent elements, all loaded before the first vote, so that 16 loads are in flight per thread.
//
// Limited by: the input is read twice, and the zeros and moved elements are stores of 4 bytes per lane.

#include "ops/select/totals.h"

enum {
    THREADS = HEDDLE_CUDA_BLOCK,
    WARP = 32,
    WARPS = THREADS / WARP,
    ROWS = 16, // of a warp, one element per lane each
    TILE = THREADS * ROWS,
};
static const unsigned ALL_LANES = 0xffffffffu;

// The number of this lane's element of a row.
__device__ static size_t element_of(int row)
{
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    return (size_t)blockIdx.x * TILE + (warp * ROWS + row) * WARP + lane;
}

// Loads this lane's elements, and votes on each row. Returns how many the warp has selected.
__device__ static int vote(const heddle_select_shape &shape, const float *input, float value[ROWS],
                           unsigned flags[ROWS])
{
    int selected = 0;
#pragma unroll
    for (int row = 0; row < ROWS; row++)
        value[row] = element_of(row) < (size_t)shape.n ? input[element_of(row)] : 0;
#pragma unroll
    for (int row = 0; row < ROWS; row++) {
        flags[row] = __ballot_sync(ALL_LANES, element_of(row) < (size_t)shape.n && value[row] > shape.threshold);
        selected += __popc(flags[row]);
    }
    return selected;
}

// input: (n), totals: (blocks)
__global__ void __launch_bounds__(THREADS) select_count(heddle_select_shape shape, const float *input, int *totals)
{
    __shared__ int of_warp[WARPS];
    float value[ROWS];
    unsigned flags[ROWS];
    const int selected = vote(shape, input, value, flags);
    if (threadIdx.x % WARP == 0)
        of_warp[threadIdx.x / WARP] = selected;
    __syncthreads();
    if (threadIdx.x == 0) {
        int total = 0;
        for (int w = 0; w < WARPS; w++)
            total += of_warp[w];
        totals[blockIdx.x] = total;
    }
}

// input, output: (n), before: (blocks), the sums of the totals before each
__global__ void __launch_bounds__(THREADS)
    select_move(heddle_select_shape shape, const float *input, const int *before, float *output)
{
    __shared__ int of_warp[WARPS];
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    float value[ROWS];
    unsigned flags[ROWS];
    const int selected = vote(shape, input, value, flags);
    if (lane == 0)
        of_warp[warp] = selected;
    __syncthreads();
    int row_begins = before[blockIdx.x];
    for (int w = 0; w < warp; w++)
        row_begins += of_warp[w];
#pragma unroll
    for (int row = 0; row < ROWS; row++) {
        const size_t i = element_of(row), n = shape.n;
        const size_t place = row_begins + __popc(flags[row] & ((1u << lane) - 1)); // so many are selected before it
        if (flags[row] >> lane & 1)
            output[place] = value[row];
        else if (i < n)
            output[n - 1 - (i - place)] = 0; // zeros from the end: one for each that is not selected
        row_begins += __popc(flags[row]);
    }
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_select_shape *shape = (const heddle_select_shape *)call->shape;
    const float *input = (const float *)call->input[0];
    int *count = (int *)call->output[1], *totals = (int *)call->workspace;
    cudaStream_t stream = heddle_cuda_stream_of(call);
    const unsigned blocks = heddle_ceil_div(shape->n, TILE);
    if (blocks == 0) {
        cudaMemsetAsync(count, 0, sizeof *count, stream);
        return heddle_cuda_launched("02_ballots");
    }
    select_count<<<blocks, THREADS, 0, stream>>>(*shape, input, totals);
    select_add_totals<<<1, SELECT_ADDERS, 0, stream>>>(blocks, totals, count);
    select_move<<<blocks, THREADS, 0, stream>>>(*shape, input, totals, (float *)call->output[0]);
    return heddle_cuda_launched("02_ballots");
}

HEDDLE_CUDA_RUNG("select", "02_ballots", launch)
