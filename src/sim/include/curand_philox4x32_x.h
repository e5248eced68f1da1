// Part of curand_kernel.h, under the name that CUDA also gives it.
#pragma once

#include <curand_kernel.h>
