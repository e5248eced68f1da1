// The source of a copy is written again once every thread has waited for its part.
#include "../corpus.h"
#include <cuda_pipeline.h>

const int THREADS = 128, ROUNDS = 6;

__global__ void reverse(float *input, float *output)
{
    __shared__ float tile[THREADS];
    int t = threadIdx.x;
    for (int round = 0; round < ROUNDS; round++) {
        float *part = input + round * THREADS;
        __pipeline_memcpy_async(&tile[t], &part[t], sizeof(float));
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        part[t] = tile[THREADS - 1 - t];
        output[round * THREADS + t] = part[t];
        __syncthreads();
    }
}

int main()
{
    static float host[THREADS * ROUNDS];
    float *input = device_ramp<float>(THREADS * ROUNDS, 0, 1), *output = device_zeros<float>(THREADS * ROUNDS);
    reverse<<<1, THREADS>>>(input, output);
    CHECK(cudaGetLastError());
    fetch(host, output);
    for (int i = 0; i < THREADS * ROUNDS; i++)
        REQUIRE(host[i] == i / THREADS * THREADS + THREADS - 1 - i % THREADS);
    CHECK(cudaFree(input));
    CHECK(cudaFree(output));
    return 0;
}
