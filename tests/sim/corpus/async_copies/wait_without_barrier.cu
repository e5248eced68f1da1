// Each thread waits for its own copies, and then reads those of others.
#include "../corpus.h"
#include <cuda_pipeline.h>

// cure: before the copy where others may still use what it overwrites
const int THREADS = 128, ROUNDS = 6;

__global__ void reverse(const float *input, float *output)
{
    __shared__ float tile[THREADS];
    int t = threadIdx.x;
    tile[t] = 0;
    __syncthreads();
    __pipeline_memcpy_async(&tile[t], &input[t], sizeof(float)); // expect: race a
    __pipeline_commit();
    __pipeline_wait_prior(0);
    output[t] = tile[THREADS - 1 - t]; // expect: race a
}

int main()
{
    float *input = device_ramp<float>(THREADS * ROUNDS, 0, 1), *output = device_zeros<float>(THREADS * ROUNDS);
    reverse<<<1, THREADS>>>(input, output);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(input));
    CHECK(cudaFree(output));
    return 0;
}
