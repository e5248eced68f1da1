// Random numbers in a kernel: the words in the numbering of ops/random/random.c, and their conversion to numbers. The
// rungs share it, so that they differ only in which thread computes what.
#pragma once

#include <stdint.h>

#include <cuda_runtime.h>

#include "ops/cuda/philox.h"
#include "ops/random/random.h"

typedef enum heddle_random_kind { HEDDLE_RANDOM_BITS, HEDDLE_RANDOM_UNIFORM, HEDDLE_RANDOM_NORMAL } heddle_random_kind;

// A kernel's parameters: the state stays on the GPU.
typedef struct heddle_random_job {
    const int64_t *state; // {seed, sequence, position}
    int n, sequences_log2;
    float first, second; // low and range, or mean and deviation
    float *output;       // (n), words instead of floats if bits are requested
} heddle_random_job;

static inline heddle_random_job heddle_random_job_of(const heddle_call *call, heddle_random_kind kind)
{
    const heddle_random_bits_shape *shape = (const heddle_random_bits_shape *)call->shape; // the three begin alike
    heddle_random_job job = {(const int64_t *)call->input[0], shape->n, heddle_random_log2(shape->sequences), 0, 0,
                             (float *)call->output[0]};
    if (kind == HEDDLE_RANDOM_UNIFORM) {
        const heddle_random_uniform_shape *uniform = (const heddle_random_uniform_shape *)call->shape;
        job.first = uniform->low;
        job.second = uniform->high - uniform->low;
    } else if (kind == HEDDLE_RANDOM_NORMAL) {
        const heddle_random_normal_shape *normal = (const heddle_random_normal_shape *)call->shape;
        job.first = normal->mean;
        job.second = normal->deviation;
    }
    return job;
}

// The state, in registers.
typedef struct heddle_random_source {
    uint64_t seed, sequence, position;
} heddle_random_source;

__device__ static inline heddle_random_source heddle_random_load(const heddle_random_job *job)
{
    heddle_random_source source = {(uint64_t)job->state[HEDDLE_RANDOM_SEED],
                                   (uint64_t)job->state[HEDDLE_RANDOM_SEQUENCE],
                                   (uint64_t)job->state[HEDDLE_RANDOM_POSITION]};
    return source;
}

// Block `block` of the output's words.
__device__ static inline uint4 heddle_random_block(const heddle_random_job *job, const heddle_random_source *source,
                                                   uint64_t block)
{
    uint64_t in_turn = ((uint64_t)1 << job->sequences_log2) - 1;
    return heddle_cuda_philox(source->seed, source->sequence + (block & in_turn), block >> job->sequences_log2);
}

__device__ static inline float heddle_random_uniform_of(uint32_t word)
{
    return fmaf((float)word, HEDDLE_RANDOM_STEP, HEDDLE_RANDOM_STEP / 2);
}

// The square root of 0 (of either sign) or of a number far from denormal, rounded like sqrtf and by the same steps,
// except for its branch for all other numbers: that would keep two roots from being computed in parallel.
__device__ static inline float heddle_random_root(float x)
{
    float reciprocal = rsqrtf(fmaxf(x, 0x1p-126f)), root = x * reciprocal; // for 0 it would be infinite
    return fmaf(fmaf(-root, root, x), 0.5f * reciprocal, root);
}

// The Box-Muller transform, by cuRAND's steps and functions: on a GPU the bits are cuRAND's too.
__device__ static inline float2 heddle_random_normal_pair(uint32_t radius_word, uint32_t angle_word)
{
    float radius = heddle_random_root(-2.0f * logf(heddle_random_uniform_of(radius_word))), sine, cosine;
    __sincosf(fmaf((float)angle_word, HEDDLE_RANDOM_ANGLE, HEDDLE_RANDOM_ANGLE / 2), &sine, &cosine);
    return make_float2(radius * sine, radius * cosine);
}

// Four words as four numbers. Words that are not converted are returned as floats with the same bits.
template <heddle_random_kind kind>
__device__ static inline float4 heddle_random_numbers(uint4 words, float first, float second)
{
    if (kind == HEDDLE_RANDOM_BITS)
        return make_float4(__uint_as_float(words.x), __uint_as_float(words.y), __uint_as_float(words.z),
                           __uint_as_float(words.w));
    float4 unit;
    if (kind == HEDDLE_RANDOM_UNIFORM) {
        unit = make_float4(heddle_random_uniform_of(words.x), heddle_random_uniform_of(words.y),
                           heddle_random_uniform_of(words.z), heddle_random_uniform_of(words.w));
    } else {
        float2 even = heddle_random_normal_pair(words.x, words.y), odd = heddle_random_normal_pair(words.z, words.w);
        unit = make_float4(even.x, even.y, odd.x, odd.y);
    }
    return make_float4(fmaf(unit.x, second, first), fmaf(unit.y, second, first), fmaf(unit.z, second, first),
                       fmaf(unit.w, second, first));
}

// How many blocks n numbers touch, if the first `skip` words of the first block belong to others.
__host__ __device__ static inline size_t heddle_random_blocks(int n, int skip)
{
    return ((size_t)n + skip + HEDDLE_RANDOM_WORDS - 1) / HEDDLE_RANDOM_WORDS;
}

// Stores the numbers of one block that belong to the output, one by one. Block 0 has those before element 4 - skip.
__device__ static inline void heddle_random_store(const heddle_random_job *job, size_t block, int skip, float4 numbers)
{
    const long long first = (long long)(block * HEDDLE_RANDOM_WORDS) - skip;
    const float each[HEDDLE_RANDOM_WORDS] = {numbers.x, numbers.y, numbers.z, numbers.w};
    for (int e = 0; e < HEDDLE_RANDOM_WORDS; e++)
        if (first + e >= 0 && first + e < job->n)
            job->output[first + e] = each[e];
}
