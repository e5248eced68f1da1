// sort, rung 2: steps whose words are all in one tile run in shared memory, many of them in one kernel.
//
// Rung 1 read and wrote all words in every step. But a step at distance d only needs runs of 2 d words. A block that
// has a tile of 2048 words in shared memory makes all steps of the merges up to that size in one kernel, and the last
// eleven steps of every larger merge in another. Only steps at a larger distance are still kernels of their own.
//
// Limited by: passes over memory still, 45 steps and 10 kernels on tiles for a million keys; in a tile by a barrier per
// step, and by shared memory, of which a word takes two banks.

#include "ops/sort/network.h"

enum {
    THREADS = 512,
    TILE = 2048, // words, 16 KiB
};

__device__ static void exchange(sort_word *words, sort_pair pair)
{
    const sort_word low = words[pair.low], high = words[pair.high];
    if (low > high) {
        words[pair.low] = high;
        words[pair.high] = low;
    }
}

// The steps at `distance` and below of a merge.
__device__ static void merge_down(sort_word *tile, unsigned distance)
{
    for (; distance > 0; distance /= 2) {
        __syncthreads();
        for (unsigned i = threadIdx.x; i < TILE / 2; i += THREADS)
            exchange(tile, sort_apart(i, distance));
    }
}

// words: (n). `whole`: sorts each tile; else only ends the merges of larger runs.
template <bool whole> __global__ void __launch_bounds__(THREADS) sort_tiles(int n, sort_word *words)
{
    __shared__ sort_word tile[TILE];
    const size_t first = (size_t)blockIdx.x * TILE;
    for (unsigned i = threadIdx.x; i < TILE; i += THREADS)
        tile[i] = first + i < (size_t)n ? words[first + i] : ~0ull; // larger than every word
    if (whole)
        for (unsigned size = 2; size <= TILE; size *= 2) {
            __syncthreads();
            for (unsigned i = threadIdx.x; i < TILE / 2; i += THREADS)
                exchange(tile, sort_mirrored(i, size));
            merge_down(tile, size / 4);
        }
    else
        merge_down(tile, TILE / 2);
    __syncthreads();
    for (unsigned i = threadIdx.x; i < TILE; i += THREADS)
        if (first + i < (size_t)n)
            words[first + i] = tile[i];
}

static heddle_status launch(const heddle_call *call)
{
    const int n = ((const heddle_elements_shape *)call->shape)->n;
    const float *keys = (const float *)call->input[0];
    sort_word *words = (sort_word *)call->workspace;
    cudaStream_t stream = heddle_cuda_stream_of(call);
    const size_t padded = sort_power(n);
    const unsigned blocks = heddle_cuda_blocks(n), pairs = heddle_cuda_blocks(padded / 2);
    const unsigned tiles = heddle_ceil_div(n, TILE);
    if (n == 0)
        return HEDDLE_OK;
    sort_make_words<<<blocks, HEDDLE_CUDA_BLOCK, 0, stream>>>(n, keys, words);
    sort_tiles<true><<<tiles, THREADS, 0, stream>>>(n, words);
    for (size_t size = 2 * TILE; size <= padded; size *= 2) {
        sort_compare<<<pairs, HEDDLE_CUDA_BLOCK, 0, stream>>>(n, size, 0, words);
        for (size_t distance = size / 4; distance >= TILE; distance /= 2)
            sort_compare<<<pairs, HEDDLE_CUDA_BLOCK, 0, stream>>>(n, size, distance, words);
        sort_tiles<false><<<tiles, THREADS, 0, stream>>>(n, words);
    }
    sort_take<<<blocks, HEDDLE_CUDA_BLOCK, 0, stream>>>(n, words, keys, (const int *)call->input[1],
                                                        (float *)call->output[0], (int *)call->output[1]);
    return heddle_cuda_launched("02_bitonic_shared");
}

HEDDLE_CUDA_RUNG("sort", "02_bitonic_shared", launch)
