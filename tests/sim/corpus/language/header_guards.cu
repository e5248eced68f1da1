// Programs ask by these names which of CUDA's headers are there, as NVIDIA's helper_cuda.h does.
#include "../corpus.h"

#include <cublas_v2.h>
#include <cufft.h>
#include <curand.h>

#if !defined(__CUDA_RUNTIME_H__) || !defined(__CUDA_RUNTIME_API_H__) || !defined(__DRIVER_TYPES_H__)
#error "the runtime is not announced"
#endif
#if !defined(CUBLAS_API_H_) || !defined(_CUFFT_H_) || !defined(CURAND_H_)
#error "the libraries are not announced"
#endif
#ifdef __cuda_cuda_h__
#error "the driver API is announced, and nobody included it"
#endif
#include <cuda.h>
#ifndef __cuda_cuda_h__
#error "the driver API is not announced"
#endif

int main()
{
    CHECK(cudaDeviceSynchronize());
}
