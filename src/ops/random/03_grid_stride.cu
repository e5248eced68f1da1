// random, rung 3: a grid that fills the GPU once and loops.
//
// Rung 2 had one thread per Philox block, and each waited for the state to arrive from memory before it could start.
// Here there are only as many threads as the GPU holds at a time: a thread reads the state once, computes the round
// keys once, and keeps them for all its blocks, one grid length apart. Each round is left with two wide multiplications
// and two exclusive ors of three values.
//
// If the first number was not at the beginning of a block, or the output not 16-byte aligned, rung 2 stored the four
// numbers of a thread one by one: every store of a warp touched 16 sectors, four times over. Here a warp writes its 128
// numbers to shared memory and reads them back in order, so that a store covers 32 neighbours.
//
// Limited by: stores, for bits and uniform numbers. Normal numbers also need a logarithm, a root and a sine per pair,
// and are limited by instructions.

#include "ops/cuda/rung.h"
#include "ops/cuda/vector.h"
#include "ops/random/numbers.h"

enum {
    BLOCK = 768,                 // threads
    BLOCKS_A_MULTIPROCESSOR = 2, // 1536 threads, which every GPU since Ampere holds, with up to 42 registers each
    WARP = 32,
};

// Whole blocks at multiples of 16 bytes; a last one that is cut off is stored one by one.
template <heddle_random_kind kind>
__device__ static void draw_fours(const heddle_random_job &job, const heddle_random_source &source)
{
    const uint64_t first = source.position / HEDDLE_RANDOM_WORDS;
    const size_t whole = (size_t)job.n / HEDDLE_RANDOM_WORDS, stride = (size_t)gridDim.x * BLOCK;
    const size_t thread = (size_t)blockIdx.x * BLOCK + threadIdx.x;
    for (size_t block = thread; block < whole; block += stride) {
        uint4 words = heddle_random_block(&job, &source, first + block);
        ((float4 *)job.output)[block] = heddle_random_numbers<kind>(words, job.first, job.second);
    }
    if (thread == 0 && job.n % HEDDLE_RANDOM_WORDS > 0) {
        uint4 words = heddle_random_block(&job, &source, first + whole);
        heddle_random_store(&job, whole, 0, heddle_random_numbers<kind>(words, job.first, job.second));
    }
}

// A warp's numbers in order, starting anywhere in the first block, to any address.
template <heddle_random_kind kind>
__device__ static void draw_in_turn(const heddle_random_job &job, const heddle_random_source &source)
{
    __shared__ float4 laid_down[BLOCK];
    const uint64_t first = source.position / HEDDLE_RANDOM_WORDS;
    const int skip = (int)(source.position % HEDDLE_RANDOM_WORDS), lane = threadIdx.x % WARP;
    const size_t blocks = heddle_random_blocks(job.n, skip), stride = (size_t)gridDim.x * BLOCK;
    const float *of_warp = (const float *)&laid_down[threadIdx.x - lane];
    for (size_t base = (size_t)blockIdx.x * BLOCK + threadIdx.x - lane; base < blocks; base += stride) {
        uint4 words = heddle_random_block(&job, &source, first + base + lane);
        laid_down[threadIdx.x] = heddle_random_numbers<kind>(words, job.first, job.second);
        __syncwarp();
        const long long place = (long long)(base * HEDDLE_RANDOM_WORDS) - skip;
        for (int i = lane; i < WARP * HEDDLE_RANDOM_WORDS; i += WARP)
            if (place + i >= 0 && place + i < job.n)
                job.output[place + i] = of_warp[i];
        __syncwarp(); // before the next ones are written
    }
}

template <heddle_random_kind kind>
__global__ void __launch_bounds__(BLOCK, BLOCKS_A_MULTIPROCESSOR) grid_stride(heddle_random_job job, bool aligned)
{
    const heddle_random_source source = heddle_random_load(&job);
    if (aligned && source.position % HEDDLE_RANDOM_WORDS == 0)
        draw_fours<kind>(job, source);
    else
        draw_in_turn<kind>(job, source);
}

template <heddle_random_kind kind> static heddle_status launch(const heddle_call *call)
{
    heddle_random_job job = heddle_random_job_of(call, kind);
    unsigned needed = heddle_ceil_div((long long)heddle_random_blocks(job.n, HEDDLE_RANDOM_WORDS - 1), BLOCK);
    unsigned most = (unsigned)heddle_cuda_multiprocessors() * BLOCKS_A_MULTIPROCESSOR;
    unsigned blocks = needed < most ? needed : most;
    if (job.n > 0)
        grid_stride<kind><<<blocks, BLOCK, 0, heddle_cuda_stream_of(call)>>>(job, heddle_aligned16(job.output));
    return heddle_cuda_launched("03_grid_stride");
}

HEDDLE_CUDA_RUNG("random_bits", "03_grid_stride", launch<HEDDLE_RANDOM_BITS>)
HEDDLE_CUDA_RUNG("random_uniform", "03_grid_stride", launch<HEDDLE_RANDOM_UNIFORM>)
HEDDLE_CUDA_RUNG("random_normal", "03_grid_stride", launch<HEDDLE_RANDOM_NORMAL>)
