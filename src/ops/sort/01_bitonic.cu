// sort, rung 1: a bitonic network (Batcher, 1968) in global memory, one kernel per step, one thread per comparison.
//
// What is compared does not depend on the keys, so all comparisons of a step can be made at once. Runs of 1, 2, 4, ...
// are merged; a merge to runs of 2^m takes m steps. A step is a kernel, because it needs all results of the one before.
// A word of 64 bits has the key above its index: so equal keys keep their order, and values are moved once, at the end.
//
// Limited by: passes over memory: log n (log n + 1) / 2 of them, 210 for a million keys.

#include "ops/sort/network.h"

static heddle_status launch(const heddle_call *call)
{
    const int n = ((const heddle_elements_shape *)call->shape)->n;
    const float *keys = (const float *)call->input[0];
    sort_word *words = (sort_word *)call->workspace;
    cudaStream_t stream = heddle_cuda_stream_of(call);
    const size_t padded = sort_power(n);
    const unsigned blocks = heddle_cuda_blocks(n), pairs = heddle_cuda_blocks(padded / 2);
    if (n == 0)
        return HEDDLE_OK;
    sort_make_words<<<blocks, HEDDLE_CUDA_BLOCK, 0, stream>>>(n, keys, words);
    for (size_t size = 2; size <= padded; size *= 2) {
        sort_compare<<<pairs, HEDDLE_CUDA_BLOCK, 0, stream>>>(n, size, 0, words);
        for (size_t distance = size / 4; distance > 0; distance /= 2)
            sort_compare<<<pairs, HEDDLE_CUDA_BLOCK, 0, stream>>>(n, size, distance, words);
    }
    sort_take<<<blocks, HEDDLE_CUDA_BLOCK, 0, stream>>>(n, words, keys, (const int *)call->input[1],
                                                        (float *)call->output[0], (int *)call->output[1]);
    return heddle_cuda_launched("01_bitonic");
}

HEDDLE_CUDA_RUNG("sort", "01_bitonic", launch)
