// random by cuRAND's device API: its header, in heddle's kernel. A thread has a block of four words: it creates a
// generator that begins there, takes four numbers from it, and stores those that belong to the output.
//
// Limited by: the start of every thread, like rung 2. curand_init and curand4 also compute the block of the sequence's
// first words and the next block; these are unused, and the compiler removes them.

#include <curand_kernel.h>

#include "ops/cuda/rung.h"
#include "ops/cuda/vector.h"
#include "ops/random/numbers.h"

template <heddle_random_kind kind> __device__ static float4 draw(curandStatePhilox4_32_10_t *generator)
{
    if (kind == HEDDLE_RANDOM_UNIFORM)
        return curand_uniform4(generator);
    if (kind == HEDDLE_RANDOM_NORMAL)
        return curand_normal4(generator);
    uint4 words = curand4(generator);
    return make_float4(__uint_as_float(words.x), __uint_as_float(words.y), __uint_as_float(words.z),
                       __uint_as_float(words.w));
}

template <heddle_random_kind kind> __global__ void by_curand(heddle_random_job job, bool aligned)
{
    size_t mine = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    const heddle_random_source source = heddle_random_load(&job);
    const int skip = (int)(source.position % HEDDLE_RANDOM_WORDS);
    if (mine >= heddle_random_blocks(job.n, skip))
        return;
    uint64_t block = source.position / HEDDLE_RANDOM_WORDS + mine, in_turn = ((uint64_t)1 << job.sequences_log2) - 1;
    curandStatePhilox4_32_10_t generator;
    curand_init(source.seed, source.sequence + (block & in_turn), (block >> job.sequences_log2) * HEDDLE_RANDOM_WORDS,
                &generator);
    float4 numbers = draw<kind>(&generator);
    if (kind != HEDDLE_RANDOM_BITS)
        numbers = make_float4(fmaf(numbers.x, job.second, job.first), fmaf(numbers.y, job.second, job.first),
                              fmaf(numbers.z, job.second, job.first), fmaf(numbers.w, job.second, job.first));
    if (aligned && skip == 0 && mine < (size_t)job.n / HEDDLE_RANDOM_WORDS)
        ((float4 *)job.output)[mine] = numbers;
    else
        heddle_random_store(&job, mine, skip, numbers);
}

template <heddle_random_kind kind> static heddle_status launch(const heddle_call *call)
{
    heddle_random_job job = heddle_random_job_of(call, kind);
    unsigned blocks = heddle_cuda_blocks(heddle_random_blocks(job.n, HEDDLE_RANDOM_WORDS - 1));
    if (job.n > 0)
        by_curand<kind>
            <<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(job, heddle_aligned16(job.output));
    return heddle_cuda_launched("curand_device");
}

HEDDLE_CUDA_RUNG("random_bits", "curand_device", launch<HEDDLE_RANDOM_BITS>)
HEDDLE_CUDA_RUNG("random_uniform", "curand_device", launch<HEDDLE_RANDOM_UNIFORM>)
HEDDLE_CUDA_RUNG("random_normal", "curand_device", launch<HEDDLE_RANDOM_NORMAL>)
