// sort, rung 4: every pass reads the keys once (Onesweep, Adinets and Merrill, 2022), and writes runs of equal digits.
//
// Rung 3 read the keys of each pass twice, because a tile had to know the digits of all before it. How many keys have a
// digit in all does not depend on their order, so one kernel counts the digits of all four passes beforehand. For the
// tiles before it, a tile looks back as in scan's rung 3, one thread for each digit. Meanwhile the tile is sorted by
// its digit in shared memory, and leaves in runs: adjacent lanes mostly store to adjacent places.
//
// Limited by: latency: registers leave room for 24 warps per SM, each of which votes on 8 bits of 16 keys, waits for
// the tiles before it, and sorts through shared memory.

#include "ops/scan/look_back.h"
#include "ops/sort/digits.h"

enum {
    PASSES = SORT_KEY_BITS / SORT_BITS,
    COUNTS_PER_SM = 4, // blocks of the counting kernel
    LOOKS = 4,         // tiles before this one that are asked at a time
    SWEEPS_PER_SM = 3, // blocks of a pass: as many as the registers for 16 keys per thread leave room for
};

// bins: (passes, digits), zero before the launch
__global__ void __launch_bounds__(SORT_THREADS) sort_count_all(int n, const float *keys, int *bins)
{
    __shared__ int count[PASSES][SORT_DIGITS];
    for (int pass = 0; pass < PASSES; pass++)
        count[pass][threadIdx.x] = 0;
    __syncthreads();
    const size_t stride = (size_t)gridDim.x * SORT_THREADS;
#pragma unroll 4
    for (size_t i = (size_t)blockIdx.x * SORT_THREADS + threadIdx.x; i < (size_t)n; i += stride) {
        const float key = keys[i];
#pragma unroll
        for (int pass = 0; pass < PASSES; pass++)
            atomicAdd(&count[pass][sort_digit(key, pass * SORT_BITS)], 1);
    }
    __syncthreads();
    for (int pass = 0; pass < PASSES; pass++)
        if (count[pass][threadIdx.x] > 0)
            atomicAdd(&bins[pass * SORT_DIGITS + threadIdx.x], count[pass][threadIdx.x]);
}

// How many keys of this thread's digit the tiles before this one have: LOOKS of them are asked at a time, because an
// answer takes as long as all of a tile's other work. words: (tiles, digits)
__device__ static int look_back(scan_word *words, int tile)
{
    int before = 0;
    bool found = false;
    for (int last = tile - 1; last >= 0 && !found; last -= LOOKS) {
        scan_word word[LOOKS];
#pragma unroll
        for (int i = 0; i < LOOKS; i++)
            word[i] = last >= i ? scan_look(&words[(size_t)(last - i) * SORT_DIGITS + threadIdx.x])
                                : scan_pack(SCAN_RUNNING_SUM, 0); // none before
#pragma unroll
        for (int i = 0; i < LOOKS; i++) {
            if (found)
                continue;
            while (word[i] >> 32 == SCAN_NOTHING) {
                __nanosleep(20);
                word[i] = scan_look(&words[(size_t)(last - i) * SORT_DIGITS + threadIdx.x]);
            }
            int count;
            scan_unpack(word[i], &count);
            before += count;
            found = word[i] >> 32 == SCAN_RUNNING_SUM;
        }
    }
    return before;
}

// One pass. bins: (digits), of this pass; words: (tiles, digits) and *ticket, all zero before the launch
__global__ void __launch_bounds__(SORT_THREADS, SWEEPS_PER_SM)
    sort_sweep(int n, int shift, const float *keys, const int *values, float *moved_keys, int *moved_values,
               const int *bins, scan_word *words, unsigned *ticket)
{
    __shared__ int places[SORT_WARPS][SORT_DIGITS]; // in the tile, of a warp's first key of each digit
    __shared__ int targets[SORT_DIGITS];            // in the output, of what would be the tile's place 0
    __shared__ float tile_keys[SORT_TILE];
    __shared__ int tile_values[SORT_TILE], shared_tile;
    if (threadIdx.x == 0)
        shared_tile = (int)atomicAdd(ticket, 1u);
    __syncthreads();
    const int tile = shared_tile, left = sort_left(n, tile), warp = threadIdx.x / SORT_WARP;
    const size_t first = (size_t)tile * SORT_TILE;
    float key[SORT_ROWS];
    int value[SORT_ROWS], rank[SORT_ROWS], total;
#pragma unroll
    for (int row = 0; row < SORT_ROWS; row++)
        key[row] = sort_place(row) < left ? keys[first + sort_place(row)] : 0;
#pragma unroll
    for (int row = 0; row < SORT_ROWS; row++) // on their way while keys are ranked
        value[row] = sort_place(row) < left ? values[first + sort_place(row)] : 0;

    sort_rank(key, left, shift, places, rank);
    const int count = sort_add_warps(places); // from here on, thread d is for digit d, too
    scan_word *own = &words[(size_t)tile * SORT_DIGITS + threadIdx.x];
    scan_publish(own, tile == 0 ? SCAN_RUNNING_SUM : SCAN_TOTAL, count);
    const int begins = sort_sum_before(count, &total);
    for (int w = 0; w < SORT_WARPS; w++)
        places[w][threadIdx.x] += begins;
    __syncthreads();
#pragma unroll
    for (int row = 0; row < SORT_ROWS; row++)
        if (sort_place(row) < left) {
            const int place = places[warp][sort_digit(key[row], shift)] + rank[row];
            tile_keys[place] = key[row];
            tile_values[place] = value[row];
        }

    const int before = look_back(words, tile);
    if (tile > 0)
        scan_publish(own, SCAN_RUNNING_SUM, before + count);
    targets[threadIdx.x] = sort_sum_before(bins[threadIdx.x], &total) + before - begins;
    __syncthreads();
    for (int place = threadIdx.x; place < left; place += SORT_THREADS) {
        const int target = targets[sort_digit(tile_keys[place], shift)] + place;
        moved_keys[target] = tile_keys[place];
        moved_values[target] = tile_values[place];
    }
}

static heddle_status launch(const heddle_call *call)
{
    const int n = ((const heddle_elements_shape *)call->shape)->n;
    const float *keys = (const float *)call->input[0];
    const int *values = (const int *)call->input[1];
    const unsigned tiles = heddle_ceil_div(n, SORT_TILE), most = COUNTS_PER_SM * heddle_cuda_multiprocessors();
    const unsigned counting = tiles < most ? tiles : most;
    const size_t words_bytes = (size_t)tiles * SORT_DIGITS * sizeof(scan_word);
    scan_word *words = (scan_word *)call->workspace;
    int *bins = (int *)(words + (size_t)tiles * SORT_DIGITS);
    unsigned *tickets = (unsigned *)(bins + PASSES * SORT_DIGITS);
    float *between_keys = (float *)(tickets + PASSES);
    int *between_values = (int *)between_keys + n;
    cudaStream_t stream = heddle_cuda_stream_of(call);
    if (n == 0)
        return HEDDLE_OK;
    cudaMemsetAsync(bins, 0, PASSES * (SORT_DIGITS + 1) * sizeof(int), stream); // tickets, too
    sort_count_all<<<counting, SORT_THREADS, 0, stream>>>(n, keys, bins);
    for (int pass = 0; pass < PASSES; pass++) {
        const bool out = pass % 2 == 1; // the last of four passes ends in the output
        float *moved_keys = out ? (float *)call->output[0] : between_keys;
        int *moved_values = out ? (int *)call->output[1] : between_values;
        cudaMemsetAsync(words, 0, words_bytes, stream);
        sort_sweep<<<tiles, SORT_THREADS, 0, stream>>>(n, pass * SORT_BITS, keys, values, moved_keys, moved_values,
                                                       bins + pass * SORT_DIGITS, words, tickets + pass);
        keys = moved_keys;
        values = moved_values;
    }
    return heddle_cuda_launched("04_onesweep");
}

HEDDLE_CUDA_RUNG("sort", "04_onesweep", launch)
