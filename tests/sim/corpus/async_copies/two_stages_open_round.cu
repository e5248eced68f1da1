// Two buffers in turn, without the barrier that ends a round: the next copy goes where others still read.
#include "../corpus.h"
#include <cuda_pipeline.h>

const int THREADS = 128, ROUNDS = 6;

__global__ void reverse(const float *input, float *output)
{
    __shared__ float tile[2][THREADS];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[0][t], &input[t], sizeof(float));
    __pipeline_commit();
    for (int round = 0; round < ROUNDS; round++) {
        if (round + 1 < ROUNDS)
            __pipeline_memcpy_async(&tile[(round + 1) % 2][t], &input[(round + 1) * THREADS + t], // expect: race a
                                    sizeof(float));
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        output[round * THREADS + t] = tile[round % 2][THREADS - 1 - t]; // expect: race a
    }
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
