// What the programs in this folder share: each runs on the simulated GPU, states what must hold, and fails when it does
// not. Calls that are meant to fail name the error they must give.
#ifndef API_CHECK_H
#define API_CHECK_H

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOLDS(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);                             \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

#define GIVES(error, call)                                                                                             \
    do {                                                                                                               \
        cudaError_t given_ = (call);                                                                                   \
        if (given_ != (error)) {                                                                                       \
            fprintf(stderr, "%s:%d: %s gives %s, not %s\n", __FILE__, __LINE__, #call, cudaGetErrorName(given_),       \
                    #error);                                                                                           \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

#define WORKS(call) GIVES(cudaSuccess, call)

__global__ void add_one(int *data, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        data[i]++;
}

__global__ void set_all(int *data, int count, int value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        data[i] = value;
}

enum { COUNT = 1000, BLOCK = 128, BLOCKS = (COUNT + BLOCK - 1) / BLOCK };

static inline bool all_are(const int *data, int value)
{
    for (int i = 0; i < COUNT; i++)
        if (data[i] != value)
            return false;
    return true;
}

#endif
