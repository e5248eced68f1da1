// The last copies of each block run ahead of the end and are never waited for; nobody looks at them either.
#include "../corpus.h"
#include <cuda_pipeline.h>

const int THREADS = 128, ROUNDS = 4, BLOCKS = 3;

__global__ void sum(const float *input, float *output)
{
    __shared__ float tile[2][THREADS];
    int t = threadIdx.x;
    float total = 0;
    __pipeline_memcpy_async(&tile[0][t], &input[t], sizeof(float));
    __pipeline_commit();
    for (int round = 0; round < ROUNDS; round++) {
        int next = (round + 1) % ROUNDS;
        __pipeline_memcpy_async(&tile[(round + 1) % 2][t], &input[next * THREADS + t], sizeof(float));
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        total += tile[round % 2][THREADS - 1 - t];
        __syncthreads();
    }
    output[blockIdx.x * THREADS + t] = total;
}

int main()
{
    static float host[BLOCKS * THREADS];
    float *input = device_ramp<float>(THREADS * ROUNDS, 0, 1), *output = device_zeros<float>(BLOCKS * THREADS);
    sum<<<BLOCKS, THREADS>>>(input, output);
    CHECK(cudaGetLastError());
    fetch(host, output);
    for (int i = 0; i < BLOCKS * THREADS; i++)
        REQUIRE(host[i] == ROUNDS * (THREADS - 1 - i % THREADS) + THREADS * (ROUNDS * (ROUNDS - 1) / 2));
    CHECK(cudaFree(input));
    CHECK(cudaFree(output));
    return 0;
}
