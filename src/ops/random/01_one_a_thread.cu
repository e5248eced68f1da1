// random, rung 1: one thread per number.
//
// Philox needs no state that threads would pass on: word p is a function of p alone. Every thread computes the block
// that contains its word, takes that word, and for a normal number its half of the pair.
//
// Limited by: Philox: a whole block, ten rounds of two wide multiplications, for each of its four words.

#include "ops/cuda/rung.h"
#include "ops/random/numbers.h"

template <heddle_random_kind kind> __global__ void one_a_thread(heddle_random_job job)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (size_t)job.n)
        return;
    const heddle_random_source source = heddle_random_load(&job);
    uint64_t p = source.position + i;
    uint4 words = heddle_random_block(&job, &source, p / HEDDLE_RANDOM_WORDS);
    float4 numbers = heddle_random_numbers<kind>(words, job.first, job.second);
    switch (p % HEDDLE_RANDOM_WORDS) {
    case 0: job.output[i] = numbers.x; break;
    case 1: job.output[i] = numbers.y; break;
    case 2: job.output[i] = numbers.z; break;
    default: job.output[i] = numbers.w; break;
    }
}

template <heddle_random_kind kind> static heddle_status launch(const heddle_call *call)
{
    heddle_random_job job = heddle_random_job_of(call, kind);
    unsigned blocks = heddle_cuda_blocks(job.n);
    if (blocks > 0)
        one_a_thread<kind><<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(job);
    return heddle_cuda_launched("01_one_a_thread");
}

HEDDLE_CUDA_RUNG("random_bits", "01_one_a_thread", launch<HEDDLE_RANDOM_BITS>)
HEDDLE_CUDA_RUNG("random_uniform", "01_one_a_thread", launch<HEDDLE_RANDOM_UNIFORM>)
HEDDLE_CUDA_RUNG("random_normal", "01_one_a_thread", launch<HEDDLE_RANDOM_NORMAL>)
