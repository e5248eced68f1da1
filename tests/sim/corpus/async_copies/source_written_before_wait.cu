// The source of a copy is written again while the copy may still read it: by its own thread, and by another.
#include "../corpus.h"
#include <cuda_pipeline.h>

const int THREADS = 128, ROUNDS = 6;

__global__ void shift(float *input, float *output)
{
    __shared__ float tile[THREADS], other[THREADS];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], &input[t], sizeof(float)); // expect: race a
    __pipeline_commit();
    input[t] = 0; // expect: race a
    __pipeline_wait_prior(0);
    output[t] = tile[t];
    __pipeline_memcpy_async(&other[t], &input[THREADS + t], sizeof(float)); // expect: race b
    __pipeline_commit();
    __syncthreads();
    input[2 * THREADS - 1 - t] = 1; // expect: race b
    __pipeline_wait_prior(0);
    output[THREADS + t] = other[t];
}

int main()
{
    float *input = device_ramp<float>(THREADS * ROUNDS, 0, 1), *output = device_zeros<float>(THREADS * ROUNDS);
    shift<<<1, THREADS>>>(input, output);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(input));
    CHECK(cudaFree(output));
    return 0;
}
