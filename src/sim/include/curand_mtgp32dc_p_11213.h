// MTGP32's 200 twisters: mtgp32dc_params_fast_11213. The table is NVIDIA's and read from an installed toolkit.
#pragma once

#include <curand_mtgp32.h>

#if __has_include("/usr/local/cuda/include/curand_mtgp32dc_p_11213.h")
#include "/usr/local/cuda/include/curand_mtgp32dc_p_11213.h"
#elif __has_include("/opt/cuda/include/curand_mtgp32dc_p_11213.h")
#include "/opt/cuda/include/curand_mtgp32dc_p_11213.h"
#elif __has_include("/usr/include/curand_mtgp32dc_p_11213.h")
#include "/usr/include/curand_mtgp32dc_p_11213.h"
#else
#error "the simulated GPU has no MTGP32 without the table of an installed CUDA toolkit: use curandStatePhilox4_32_10_t"
#include "stopped/by/the/error/above" // which alone would be followed by many
#endif
