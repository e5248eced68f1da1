// MTGP32 in kernels: the threads of a block, at most 256, draw from one state together. Part of curand_kernel.h.
#pragma once

#include <curand_kernel.h>
#include <curand_mtgp32.h>

namespace sim
{
// The word that follows N words on, where `at` is the oldest one that it is made of; and what is given out for it.
SIM_INLINE unsigned int mtgp32_draw(curandStateMtgp32_t *state, unsigned int at)
{
    const mtgp32_kernel_params_t *twister = state->k;
    int which = state->pIdx;
    unsigned int position = twister->pos_tbl[which];
    unsigned int mixed = (state->s[at & MTGP32_STATE_MASK] & twister->mask[0]) ^ state->s[(at + 1) & MTGP32_STATE_MASK];
    mixed ^= mixed << twister->sh1_tbl[which];
    mixed ^= state->s[(at + position) & MTGP32_STATE_MASK] >> twister->sh2_tbl[which];
    unsigned int word = mixed ^ twister->param_tbl[which][mixed % TBL_SIZE];
    state->s[(at + MTGPDC_N) & MTGP32_STATE_MASK] = word;
    unsigned int temper = state->s[(at + position - 1) & MTGP32_STATE_MASK];
    temper ^= temper >> 16;
    temper ^= temper >> 8;
    return word ^ twister->temper_tbl[which][temper % TBL_SIZE];
}

// Thread `index` of `count` that draw.
SIM_INLINE unsigned int mtgp32_next(curandStateMtgp32_t *state, unsigned int index, unsigned int count)
{
    unsigned int drawn = mtgp32_draw(state, index + (unsigned int)state->offset);
    __syncthreads();
    if (index == 0)
        state->offset = (int)(((unsigned int)state->offset + count) & MTGP32_STATE_MASK);
    __syncthreads();
    return drawn;
}
} // namespace sim

SIM_INLINE unsigned int curand(curandStateMtgp32_t *state)
{
    // cuRAND counts blocks of three dimensions so.
    unsigned int index = blockDim.z * blockDim.y * threadIdx.z + blockDim.x * threadIdx.y + threadIdx.x;
    return sim::mtgp32_next(state, index, blockDim.x * blockDim.y * blockDim.z);
}

SIM_INLINE unsigned int curand_mtgp32_specific(curandStateMtgp32_t *state, unsigned char index, unsigned char n)
{
    return sim::mtgp32_next(state, index, n);
}

SIM_INLINE double curand_uniform_double(curandStateMtgp32_t *state)
{
    return sim::uniform_of_32(curand(state));
}

SIM_INLINE float curand_normal(curandStateMtgp32_t *state)
{
    return (float)sim::normal_of_32(curand(state));
}

SIM_INLINE double curand_normal_double(curandStateMtgp32_t *state)
{
    return sim::normal_of_32(curand(state));
}
