// sort, rung 3: a radix sort from the lowest digit on, four passes of 8 bits.
//
// A network compares without knowing the keys, log² n times. A radix sort does not compare: it moves every key behind
// those with a lower digit. If keys with the same digit keep their order, four passes from the lowest byte to the
// highest sort 32 bits. A pass is three kernels. The first counts the digits of each tile. The second has one warp per
// digit, which adds up its counts tile by tile. The third moves the keys: a key goes behind all of lower digits, those
// of its digit in earlier tiles, in earlier warps of its tile, and in earlier lanes, found by votes.
//
// Limited by: scattered stores. A tile of 4096 keys has about 16 of each digit, spread over its warps, so that a warp's
// store reaches up to 32 lines; and keys are read twice in each pass.

#include "ops/sort/digits.h"

enum { EACH = 8 }; // adjacent tiles whose counts a lane adds up at once

// Keys and their values.
typedef struct sort_pairs {
    const float *keys;
    const int *values;
} sort_pairs;

// counts: (digits, tiles)
__global__ void __launch_bounds__(SORT_THREADS) sort_count(int n, int shift, const float *keys, int *counts)
{
    __shared__ int count[SORT_DIGITS];
    const float *tile = keys + (size_t)blockIdx.x * SORT_TILE;
    const int left = sort_left(n, blockIdx.x);
    count[threadIdx.x] = 0;
    __syncthreads();
#pragma unroll 4
    for (int place = threadIdx.x; place < left; place += SORT_THREADS)
        atomicAdd(&count[sort_digit(tile[place], shift)], 1);
    __syncthreads();
    counts[(size_t)threadIdx.x * gridDim.x + blockIdx.x] = count[threadIdx.x];
}

// One warp per digit: its counts become sums over the tiles before each. totals: (digits)
__global__ void __launch_bounds__(SORT_THREADS) sort_add_tiles(int tiles, int *counts, int *totals)
{
    const int lane = threadIdx.x % SORT_WARP, digit = blockIdx.x * SORT_WARPS + threadIdx.x / SORT_WARP;
    int *of_digit = counts + (size_t)digit * tiles, sum = 0;
    for (int first = 0; first < tiles; first += SORT_WARP * EACH) {
        const int begin = first + lane * EACH;
        int count[EACH], own = 0;
#pragma unroll
        for (int e = 0; e < EACH; e++)
            count[e] = begin + e < tiles ? of_digit[begin + e] : 0;
#pragma unroll
        for (int e = 0; e < EACH; e++)
            own += count[e];
        const int lanes = sort_sum_lanes(own);
        int before = sum + lanes - own;
#pragma unroll
        for (int e = 0; e < EACH; e++) {
            if (begin + e < tiles)
                of_digit[begin + e] = before;
            before += count[e];
        }
        sum += __shfl_sync(SORT_LANES, lanes, SORT_WARP - 1);
    }
    if (lane == 0)
        totals[digit] = sum;
}

// before: (digits, tiles), totals: (digits)
__global__ void __launch_bounds__(SORT_THREADS)
    sort_move(int n, int shift, const int *before, const int *totals, sort_pairs from, float *keys, int *values)
{
    __shared__ int places[SORT_WARPS][SORT_DIGITS]; // of a warp's first key of each digit
    const size_t first = (size_t)blockIdx.x * SORT_TILE;
    const int left = sort_left(n, blockIdx.x), warp = threadIdx.x / SORT_WARP;
    float key[SORT_ROWS];
    int rank[SORT_ROWS], total;
#pragma unroll
    for (int row = 0; row < SORT_ROWS; row++)
        key[row] = sort_place(row) < left ? from.keys[first + sort_place(row)] : 0;
    sort_rank(key, left, shift, places, rank);
    sort_add_warps(places);
    const int begins =
        sort_sum_before(totals[threadIdx.x], &total) + before[(size_t)threadIdx.x * gridDim.x + blockIdx.x];
    for (int w = 0; w < SORT_WARPS; w++)
        places[w][threadIdx.x] += begins;
    __syncthreads();
#pragma unroll
    for (int row = 0; row < SORT_ROWS; row++)
        if (sort_place(row) < left) {
            const int place = places[warp][sort_digit(key[row], shift)] + rank[row];
            keys[place] = key[row];
            values[place] = from.values[first + sort_place(row)];
        }
}

static heddle_status launch(const heddle_call *call)
{
    const int n = ((const heddle_elements_shape *)call->shape)->n;
    float *between_keys = (float *)call->workspace;
    int *between_values = (int *)call->workspace + n;
    const unsigned tiles = heddle_ceil_div(n, SORT_TILE);
    int *totals = between_values + n, *counts = totals + SORT_DIGITS;
    cudaStream_t stream = heddle_cuda_stream_of(call);
    sort_pairs from = {(const float *)call->input[0], (const int *)call->input[1]};
    if (n == 0)
        return HEDDLE_OK;
    for (int shift = 0; shift < SORT_KEY_BITS; shift += SORT_BITS) {
        const bool out = shift / SORT_BITS % 2 == 1; // the last of four passes ends in the output
        float *keys = out ? (float *)call->output[0] : between_keys;
        int *values = out ? (int *)call->output[1] : between_values;
        sort_count<<<tiles, SORT_THREADS, 0, stream>>>(n, shift, from.keys, counts);
        sort_add_tiles<<<SORT_DIGITS / SORT_WARPS, SORT_THREADS, 0, stream>>>(tiles, counts, totals);
        sort_move<<<tiles, SORT_THREADS, 0, stream>>>(n, shift, counts, totals, from, keys, values);
        from = {keys, values};
    }
    return heddle_cuda_launched("03_radix");
}

HEDDLE_CUDA_RUNG("sort", "03_radix", launch)
