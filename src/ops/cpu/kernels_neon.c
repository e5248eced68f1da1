// The inner loops for aarch64, which always has NEON: four floats per vector, products by a lane of a register.

#if defined(__aarch64__)
#define HEDDLE_SIMD_NEON
#define HEDDLE_KERNELS_NAME neon
#include "ops/cpu/kernels.inc"
#endif
