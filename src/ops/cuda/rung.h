// What a rung's .cu file needs: its call's stream, how to end a launcher, and how to be found by the operator's table.
#pragma once

#include <cuda_runtime.h>

#include "device/module.h"

typedef heddle_status heddle_launcher(const heddle_call *call);

// Rungs of a module, as their files put themselves on the list.
typedef struct heddle_cuda_rung {
    const char *op, *rung;
    heddle_launcher *launch;
    struct heddle_cuda_rung *next;
} heddle_cuda_rung;

// Exported: the modules of vendors' libraries put theirs on the same list.
HEDDLE_API void heddle_cuda_rung_add(heddle_cuda_rung *rung);
heddle_launcher *heddle_cuda_launcher(const char *op, const char *rung);

// HEDDLE_CUDA_RUNG("matmul_forward", "01_naive", launch): at the end of a rung's file.
#define HEDDLE_CUDA_RUNG(op_name, rung_name, function)     HEDDLE_CUDA_RUNG_(op_name, rung_name, function, __COUNTER__)
#define HEDDLE_CUDA_RUNG_(op_name, rung_name, function, n) HEDDLE_CUDA_RUNG__(op_name, rung_name, function, n)
#define HEDDLE_CUDA_RUNG__(op_name, rung_name, function, n)                                                            \
    __attribute__((constructor)) static void heddle_cuda_rung_add_##n(void)                                            \
    {                                                                                                                  \
        static heddle_cuda_rung rung = {op_name, rung_name, function, NULL};                                           \
        heddle_cuda_rung_add(&rung);                                                                                   \
    }

// HEDDLE_CUDA_REFERENCE("matmul_forward", launch): the operator's float64 reference as a kernel, for shapes that would
// take minutes on a CPU. Inputs are as in a call; outputs are float64, updates among them filled with what they held.
#define HEDDLE_CUDA_REFERENCE(op_name, function) HEDDLE_CUDA_RUNG(op_name, "reference", function)

// HEDDLE_CUDA_ENGINES("conv2d_forward", list): lists what a library could run the operator with at the call's shape;
// ops/engines.h says where to.
#define HEDDLE_CUDA_ENGINES(op_name, function) HEDDLE_CUDA_RUNG(op_name, "engines", function)

// The call's stream, its device made current: a launch needs both.
HEDDLE_API cudaStream_t heddle_cuda_stream_of(const heddle_call *call);
// The number of the GPU that the call is for, counted from 0.
HEDDLE_API int heddle_cuda_device_of(const heddle_call *call);
// The last line of a launcher: says what is wrong with a launch that CUDA refused.
HEDDLE_API heddle_status heddle_cuda_launched(const char *rung);

static inline unsigned heddle_ceil_div(long long value, long long divisor)
{
    return (unsigned)((value + divisor - 1) / divisor);
}

// Threads of a block where a rung has no reason for another number: eight warps, several such blocks to an SM, so that
// some warp has work while others wait for memory.
enum { HEDDLE_CUDA_BLOCK = 256 };

// Such blocks for one thread per element. None for no elements: a grid of 0 blocks is no legal launch.
static inline unsigned heddle_cuda_blocks(size_t elements)
{
    return heddle_ceil_div((long long)elements, HEDDLE_CUDA_BLOCK);
}

// Multiprocessors of the current GPU: for grids that fill it once and go round.
HEDDLE_API int heddle_cuda_multiprocessors(void);
