// The inner loops in four-wide vectors of the compiler's own: runs on every machine.

#define HEDDLE_SIMD_GENERIC
#define HEDDLE_KERNELS_NAME generic
#include "ops/cpu/kernels.inc"
