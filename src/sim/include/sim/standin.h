// The one header that every simulated translation unit starts with, as nvcc starts each with cuda_runtime.h: CUDA's
// language and runtime API. Half precision, cooperative groups and the libraries come with their own headers, as in
// CUDA.
#pragma once
#define __CUDA_RUNTIME_H__

#include "sim/keywords.h"

#if defined(__cplusplus)

#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/abi.h"
#include "sim/vector_types.h"

#include "sim/arithmetic.h"
#include "sim/atomic_builtins.h"
#include "sim/atomics.h"
#include "sim/barriers.h"
#include "sim/conversion.h"
#include "sim/hidden.h"
#include "sim/index.h"
#include "sim/intrinsics_convert.h"
#include "sim/intrinsics_float.h"
#include "sim/intrinsics_integer.h"
#include "sim/intrinsics_simd.h"
#include "sim/kernel_calls.h"
#include "sim/launch.h"
#include "sim/math.h"
#include "sim/math_special.h"
#include "sim/memory_access.h"
#include "sim/stored.h"
#include "sim/warp.h"

#if __has_include("sim/runtime_api.h")
#include "sim/runtime_api.h"
#endif
#include "sim/surface_fetch.h"
#include "sim/texture_cube.h"

#if defined(__clang__) && SIM_WATCHED
// clang copies structures word by word: a word that is read may be padding in part (race/row.c).
extern "C" __attribute__((weak, used)) char sim_copies_words = 1;
#endif

#else
#include "sim/vector_types.h"
#endif
