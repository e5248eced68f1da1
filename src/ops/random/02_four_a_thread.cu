// random, rung 2: one thread per Philox block.
//
// Rung 1 computed each Philox block four times. Here a thread uses all four words of one, and stores them as 16 bytes:
// a quarter of the arithmetic and of the store instructions. If the first number is not at the beginning of a block,
// the four numbers of a block are not 16-byte aligned, and are stored one by one.
//
// Limited by: the start of every thread: it reads the state from memory, which takes as long as its arithmetic, and
// computes the twenty round keys again.

#include "ops/cuda/rung.h"
#include "ops/cuda/vector.h"
#include "ops/random/numbers.h"

template <heddle_random_kind kind> __global__ void four_a_thread(heddle_random_job job, bool aligned)
{
    const size_t block = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    const heddle_random_source source = heddle_random_load(&job);
    const int skip = (int)(source.position % HEDDLE_RANDOM_WORDS);
    if (block >= heddle_random_blocks(job.n, skip))
        return;
    uint4 words = heddle_random_block(&job, &source, source.position / HEDDLE_RANDOM_WORDS + block);
    float4 numbers = heddle_random_numbers<kind>(words, job.first, job.second);
    if (aligned && skip == 0 && block < (size_t)job.n / HEDDLE_RANDOM_WORDS)
        ((float4 *)job.output)[block] = numbers;
    else
        heddle_random_store(&job, block, skip, numbers);
}

template <heddle_random_kind kind> static heddle_status launch(const heddle_call *call)
{
    heddle_random_job job = heddle_random_job_of(call, kind);
    // For the largest number of blocks that they may touch: only the GPU knows where they begin.
    unsigned blocks = heddle_cuda_blocks(heddle_random_blocks(job.n, HEDDLE_RANDOM_WORDS - 1));
    if (job.n > 0)
        four_a_thread<kind>
            <<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(job, heddle_aligned16(job.output));
    return heddle_cuda_launched("02_four_a_thread");
}

HEDDLE_CUDA_RUNG("random_bits", "02_four_a_thread", launch<HEDDLE_RANDOM_BITS>)
HEDDLE_CUDA_RUNG("random_uniform", "02_four_a_thread", launch<HEDDLE_RANDOM_UNIFORM>)
HEDDLE_CUDA_RUNG("random_normal", "02_four_a_thread", launch<HEDDLE_RANDOM_NORMAL>)
