// A kernel from source text, compiled at run time (NVRTC) and launched by the driver: for a person's own file without
// host code. Only in libheddle-cuda.so; the simulated GPU has no NVRTC.
#pragma once

#include "heddle/op.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct heddle_cuda_kernel heddle_cuda_kernel;

typedef struct heddle_cuda_kernel_source {
    const char *path;   // of the file, for messages; headers beside it are found
    const char *text;   // the text to compile
    const char *kernel; // its name in C++
    const char *flag;   // "&name" of an `extern "C" __device__ int` of the text, whose value is returned
} heddle_cuda_kernel_source;

// The module's functions, found by HEDDLE_CUDA_KERNEL_FUNCTIONS.
typedef struct heddle_cuda_kernel_functions {
    // HEDDLE_MISSING: no NVRTC; HEDDLE_CORRUPT: it does not compile. The compiler's messages go to *log, which the
    // caller frees; NULL if there are none.
    heddle_status (*open)(heddle_device *device, const heddle_cuda_kernel_source *source, heddle_cuda_kernel **kernel,
                          int *flag, char **log);
    // `arguments` are pointers to the kernel's arguments, as cudaLaunchKernel takes them.
    heddle_status (*launch)(const heddle_cuda_kernel *kernel, const heddle_call *call, const unsigned grid[3],
                            const unsigned block[3], unsigned shared, void **arguments);
    void (*close)(heddle_cuda_kernel *kernel);
} heddle_cuda_kernel_functions;
#define HEDDLE_CUDA_KERNEL_FUNCTIONS "heddle_cuda_kernel_functions_table"

#ifdef __cplusplus
}
#endif
