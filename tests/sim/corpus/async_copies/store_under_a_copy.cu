// A thread clears the ends of a tile while its copy is under way: what is there in the end is anyone's guess.
#include "../corpus.h"
#include <cuda_pipeline.h>

const int THREADS = 128, ROUNDS = 6;

__global__ void reverse(const float *input, float *output)
{
    __shared__ float tile[THREADS];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], &input[t], sizeof(float));
    __pipeline_commit();
    if (t == 0 || t == THREADS - 1)
        tile[t] = 0; // expect: race a
    __pipeline_wait_prior(0); // expect: race a
    __syncthreads();
    output[t] = tile[THREADS - 1 - t];
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
