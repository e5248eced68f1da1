// The inner loops for x86-64 with AVX2 and FMA: eight floats per vector, sixteen registers. Only called if the machine
// has both.

#if defined(__x86_64__)
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#endif

#define HEDDLE_SIMD_AVX2
#define HEDDLE_KERNELS_NAME avx2
#include "ops/cpu/kernels.inc"

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif
