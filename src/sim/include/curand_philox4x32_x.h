// Part of curand_kernel.h, under the name that CUDA also gives it.
#ifndef SIM_CURAND_PHILOX4X32_X_H
#define SIM_CURAND_PHILOX4X32_X_H

#include <curand_kernel.h>

#endif
