// A thread reads what it has asked for, and waits only then.
#include "../corpus.h"
#include <cuda_pipeline.h>

const int THREADS = 128, ROUNDS = 6;

__global__ void twice(const float *input, float *output)
{
    __shared__ float tile[THREADS];
    int t = threadIdx.x;
    tile[t] = 0;
    for (int round = 0; round < ROUNDS; round++) {
        __pipeline_memcpy_async(&tile[t], &input[round * THREADS + t], sizeof(float)); // expect: race a
        __pipeline_commit();
        output[round * THREADS + t] = 2 * tile[t]; // expect: race a
        __pipeline_wait_prior(0);
    }
}
// cure: Wait for the copy

int main()
{
    float *input = device_ramp<float>(THREADS * ROUNDS, 0, 1), *output = device_zeros<float>(THREADS * ROUNDS);
    twice<<<1, THREADS>>>(input, output);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(input));
    CHECK(cudaFree(output));
    return 0;
}
