// One check for every call into CUDA and NVIDIA's libraries: HEDDLE_CUDA_TRY(call) returns from the calling function
// when the call fails, with its name, the library's words, file and line as the message. The type of what the call
// returns picks the library; each one's part is there where its header was included before this one.
#pragma once

#include <cuda_runtime.h>
#include <stdio.h>

#include "heddle/status.h"

// Where a call stands in the source.
typedef struct heddle_cuda_place {
    const char *call; // "cudaMalloc(memory, bytes)"
    const char *file;
    int line;
} heddle_cuda_place;

#define HEDDLE_CUDA_HERE(text)  (heddle_cuda_place{(text), __FILE__, __LINE__})
#define HEDDLE_CUDA_CHECK(call) heddle_cuda_checked((call), HEDDLE_CUDA_HERE(#call))
#define HEDDLE_CUDA_TRY(call)   HEDDLE_TRY(HEDDLE_CUDA_CHECK(call))

// Both exported by libheddle-cuda.so, for the modules of vendors' libraries.
// HEDDLE_OK, or the failure of a runtime call; the runtime's own record of it is cleared.
HEDDLE_API heddle_status heddle_cuda_checked(cudaError_t error, heddle_cuda_place place);
// "cublasSgemm failed: the GPU program failed to execute (CUBLAS_STATUS_EXECUTION_FAILED) at src/ops/...cu:31"
HEDDLE_API heddle_status heddle_cuda_failed(heddle_status status, const char *text, const char *name,
                                            heddle_cuda_place place);

// For libraries that have no words for their failures: "status 7".
static inline heddle_status heddle_cuda_failed_number(const char *library, int number, heddle_cuda_place place)
{
    char name[32];
    snprintf(name, sizeof name, "%s status %d", library, number);
    return heddle_cuda_failed(HEDDLE_DEVICE, "the library gives no words for it", name, place);
}

#if defined(CUDA_VERSION) && !defined(HEDDLE_SIM_MODULE) // <cuda.h>: the driver
#include <dlfcn.h>

// libcuda.so.1 is there, as somebody called it, but the module is not linked to it: it has to load without.
static inline heddle_status heddle_cuda_checked(CUresult result, heddle_cuda_place place)
{
    if (result == CUDA_SUCCESS)
        return HEDDLE_OK;
    typedef CUresult look_up(CUresult, const char **);
    const char *name = "CUresult", *text = "the driver gives no words for it";
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY);
    look_up *name_of = driver ? (look_up *)dlsym(driver, "cuGetErrorName") : NULL;
    look_up *text_of = driver ? (look_up *)dlsym(driver, "cuGetErrorString") : NULL;
    if (name_of)
        name_of(result, &name);
    if (text_of)
        text_of(result, &text);
    heddle_status status = result == CUDA_ERROR_OUT_OF_MEMORY   ? HEDDLE_OUT_OF_MEMORY
                           : result == CUDA_ERROR_INVALID_VALUE ? HEDDLE_INVALID
                                                                : HEDDLE_DEVICE;
    return heddle_cuda_failed(status, text, name, place);
}
#endif

#if defined(CUBLAS_VER_MAJOR) // <cublas_v2.h>, <cublasLt.h>
static inline heddle_status heddle_cuda_checked(cublasStatus_t result, heddle_cuda_place place)
{
    if (result == CUBLAS_STATUS_SUCCESS)
        return HEDDLE_OK;
    heddle_status status = result == CUBLAS_STATUS_ALLOC_FAILED    ? HEDDLE_OUT_OF_MEMORY
                           : result == CUBLAS_STATUS_INVALID_VALUE ? HEDDLE_INVALID
                           : result == CUBLAS_STATUS_NOT_SUPPORTED ? HEDDLE_UNSUPPORTED
                                                                   : HEDDLE_DEVICE;
    return heddle_cuda_failed(status, cublasGetStatusString(result), cublasGetStatusName(result), place);
}
#endif

#if defined(CUDNN_MAJOR) // <cudnn.h>
static inline heddle_status heddle_cuda_checked(cudnnStatus_t result, heddle_cuda_place place)
{
    if (result == CUDNN_STATUS_SUCCESS)
        return HEDDLE_OK;
    char text[512] = "";
#if CUDNN_MAJOR >= 9
    cudnnGetLastErrorString(text, sizeof text); // more than the name says: which descriptor, which limit
#endif
    // From cuDNN 9 on, statuses come in thousands: 2000 bad parameters, 3000 not supported.
    heddle_status status = result / 1000 == 2   ? HEDDLE_INVALID
                           : result / 1000 == 3 ? HEDDLE_UNSUPPORTED
                                                : HEDDLE_DEVICE;
    return heddle_cuda_failed(status, text[0] ? text : "cuDNN says no more", cudnnGetErrorString(result), place);
}
#endif

#if defined(CUFFT_VER_MAJOR) // <cufft.h>
static inline heddle_status heddle_cuda_checked(cufftResult result, heddle_cuda_place place)
{
    return result == CUFFT_SUCCESS ? HEDDLE_OK : heddle_cuda_failed_number("cuFFT", (int)result, place);
}
#endif

#if defined(CURAND_VER_MAJOR) // <curand.h>
static inline heddle_status heddle_cuda_checked(curandStatus_t result, heddle_cuda_place place)
{
    return result == CURAND_STATUS_SUCCESS ? HEDDLE_OK : heddle_cuda_failed_number("cuRAND", (int)result, place);
}
#endif

#if defined(NCCL_VERSION_CODE) // <nccl.h>
static inline heddle_status heddle_cuda_checked(ncclResult_t result, heddle_cuda_place place)
{
    char name[32];
    snprintf(name, sizeof name, "ncclResult_t %d", (int)result);
    return result == ncclSuccess ? HEDDLE_OK
                                 : heddle_cuda_failed(HEDDLE_DEVICE, ncclGetErrorString(result), name, place);
}
#endif
