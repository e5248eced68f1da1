// Part of curand_kernel.h, under the name that CUDA also gives it.
#ifndef SIM_CURAND_POISSON_H
#define SIM_CURAND_POISSON_H

#include <curand_kernel.h>

#endif
