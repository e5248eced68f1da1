// The inner loops for x86-64 with AVX-512: sixteen floats per vector, 32 registers. Only called if the machine has the
// extensions named below, as all with AVX-512 except Xeon Phi do.

#if defined(__x86_64__)
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma"))),                   \
                             apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")
#endif

#define HEDDLE_SIMD_AVX512
#define HEDDLE_KERNELS_NAME avx512
#include "ops/cpu/kernels.inc"

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif
