// threadIdx and the like. The runtime sets them when it switches to a CUDA thread. They are const here because they
// never change under a thread's feet: so the compiler neither watches nor repeats their reads.
#pragma once

#include "sim/vector_types.h"

// A dim3 without constructors: gcc takes an object that has them for one that somebody might still construct, and
// watches every read of it.
struct sim_extent {
    unsigned int x, y, z;
    operator dim3() const
    {
        return dim3(x, y, z);
    }
    operator uint3() const
    {
        return uint3{x, y, z};
    }
};

extern __thread const uint3 threadIdx;
extern __thread const uint3 blockIdx;
extern __thread const sim_extent blockDim;
extern __thread const sim_extent gridDim;

const int warpSize = 32;
