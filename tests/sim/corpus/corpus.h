// What the programs of the corpus share: checked calls, arrays on the card filled and fetched in one line. Each program
// is otherwise whole; what it shows is said in its first line, what is wrong with it in comments (../run_corpus.py).
#ifndef SIM_CORPUS_H
#define SIM_CORPUS_H

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

// A right program stops at the first call that fails.
#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        cudaError_t status_ = (call);                                                                                  \
        if (status_ != cudaSuccess) {                                                                                  \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(status_));                \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

// A wrong program looks at the error and goes on, so that only what it plants is found.
#define SHOW(call)                                                                                                     \
    do {                                                                                                               \
        cudaError_t status_ = (call);                                                                                  \
        if (status_ != cudaSuccess)                                                                                    \
            printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_));                                    \
    } while (0)

#define REQUIRE(condition)                                                                                             \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);                             \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

// An array on the card: first, first + step, ...
template <typename T> static inline T *device_ramp(int count, T first, T step)
{
    T *host = (T *)malloc(count * sizeof(T)), *device = NULL;
    for (int i = 0; i < count; i++)
        host[i] = (T)(first + step * (T)i);
    CHECK(cudaMalloc(&device, count * sizeof(T)));
    CHECK(cudaMemcpy(device, host, count * sizeof(T), cudaMemcpyHostToDevice));
    free(host);
    return device;
}

template <typename T> static inline T *device_zeros(int count)
{
    T *device = NULL;
    CHECK(cudaMalloc(&device, count * sizeof(T)));
    CHECK(cudaMemset(device, 0, count * sizeof(T)));
    return device;
}

template <typename T, int N> static inline T *device_copy(const T (&host)[N])
{
    T *device = NULL;
    CHECK(cudaMalloc(&device, sizeof host));
    CHECK(cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice));
    return device;
}

template <typename T, int N> static inline void fetch(T (&host)[N], const T *device)
{
    CHECK(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
}

#endif
