// What a rung's .cu file needs: its call's stream, the end of a launcher, and registration for the operator's table.
#pragma once

#include <cuda_runtime.h>

#include "device/module.h"

typedef heddle_status heddle_launcher(const heddle_call *call);

// Rungs of a module; their files register themselves.
typedef struct heddle_cuda_rung {
    const char *op, *rung;
    heddle_launcher *launch;
    struct heddle_cuda_rung *next;
} heddle_cuda_rung;

// Exported: the modules of vendors' libraries register in the same list.
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
// take minutes on a CPU. Inputs are as in a call; outputs are float64, and updates among them hold their old values.
#define HEDDLE_CUDA_REFERENCE(op_name, function) HEDDLE_CUDA_RUNG(op_name, "reference", function)

// HEDDLE_CUDA_ENGINES("conv2d_forward", list): lists the engines of a library for the operator at the call's shape
// (ops/engines.h).
#define HEDDLE_CUDA_ENGINES(op_name, function) HEDDLE_CUDA_RUNG(op_name, "engines", function)

// The call's stream; makes its device current. A launch needs both.
HEDDLE_API cudaStream_t heddle_cuda_stream_of(const heddle_call *call);
// The number of the call's GPU, counted from 0.
HEDDLE_API int heddle_cuda_device_of(const heddle_call *call);
// The last line of a launcher: reports a launch that CUDA refused.
HEDDLE_API heddle_status heddle_cuda_launched(const char *rung);

static inline unsigned heddle_ceil_div(long long value, long long divisor)
{
    return (unsigned)((value + divisor - 1) / divisor);
}

// Default threads per block: eight warps, and several such blocks per SM, so that some warp has work while others wait
// for memory.
enum { HEDDLE_CUDA_BLOCK = 256 };

// Such blocks for one thread per element. For no elements none: a grid of 0 blocks is not a legal launch.
static inline unsigned heddle_cuda_blocks(size_t elements)
{
    return heddle_ceil_div((long long)elements, HEDDLE_CUDA_BLOCK);
}

// SMs of the current GPU: for grids that fill it once and loop.
HEDDLE_API int heddle_cuda_multiprocessors(void);
