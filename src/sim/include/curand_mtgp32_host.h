// MTGP32 for kernels, prepared on the host: parameters and states of the first twisters of a table.
#pragma once

#include <cuda_runtime.h>
#include <curand.h>
#include <curand_mtgp32.h>
#include <curand_mtgp32dc_p_11213.h>

#include <vector>

inline curandStatus_t curandMakeMTGP32Constants(const mtgp32_params_fast_t params[], mtgp32_kernel_params_t *p)
{
    std::vector<mtgp32_kernel_params_t> all(1);
    all[0].mask[0] = params[0].mask;
    for (int i = 0; i < CURAND_NUM_MTGP32_PARAMS; i++) {
        all[0].pos_tbl[i] = (unsigned int)params[i].pos;
        all[0].sh1_tbl[i] = (unsigned int)params[i].sh1;
        all[0].sh2_tbl[i] = (unsigned int)params[i].sh2;
        for (int j = 0; j < TBL_SIZE; j++) {
            all[0].param_tbl[i][j] = params[i].tbl[j];
            all[0].temper_tbl[i][j] = params[i].tmp_tbl[j];
            all[0].single_temper_tbl[i][j] = params[i].flt_tmp_tbl[j];
        }
    }
    cudaError_t copied = cudaMemcpy(p, all.data(), sizeof all[0], cudaMemcpyHostToDevice);
    return copied == cudaSuccess ? CURAND_STATUS_SUCCESS : CURAND_STATUS_INITIALIZATION_FAILED;
}

// Each word from the one before, over a pattern of bytes that the twister's tables give.
inline void mtgp32_init_state(unsigned int state[], const mtgp32_params_fast_t *para, unsigned int seed)
{
    int words = para->mexp / 32 + 1;
    unsigned int hidden = para->tbl[4] ^ para->tbl[8] << 16, folded = hidden + (hidden >> 16);
    unsigned int pattern = (folded + (folded >> 8)) % 256 * 0x01010101u;
    state[0] = seed;
    for (int i = 1; i < words; i++) {
        unsigned int before = state[i - 1];
        state[i] = (i == 1 ? hidden : pattern) ^ (1812433253u * (before ^ before >> 30) + (unsigned int)i);
    }
}

inline curandStatus_t curandMakeMTGP32KernelState(curandStateMtgp32_t *s, mtgp32_params_fast_t params[],
                                                  mtgp32_kernel_params_t *k, int n, unsigned long long seed)
{
    std::vector<curandStateMtgp32_t> states((size_t)n);
    unsigned int folded = (unsigned int)(seed ^ seed >> 32);
    for (int i = 0; i < n; i++) {
        states[i].offset = 0;
        states[i].pIdx = i;
        states[i].k = k;
        mtgp32_init_state(states[i].s, &params[i], folded + (unsigned int)i + 1);
    }
    cudaError_t copied = cudaMemcpy(s, states.data(), (size_t)n * sizeof *s, cudaMemcpyHostToDevice);
    return copied == cudaSuccess ? CURAND_STATUS_SUCCESS : CURAND_STATUS_INITIALIZATION_FAILED;
}
