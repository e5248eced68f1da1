// Three buffers in turn: the copy that fills a buffer again is issued before the barrier of the round.
#include "../corpus.h"
#include <cuda_pipeline.h>

// cure: before the copy where others may still use what it overwrites
const int THREADS = 128, ROUNDS = 6;

const int STAGES = 3;

__global__ void reverse(const float *input, float *output)
{
    __shared__ float tile[STAGES][THREADS];
    int t = threadIdx.x;
    for (int stage = 0; stage < STAGES - 1; stage++) {
        __pipeline_memcpy_async(&tile[stage][t], &input[stage * THREADS + t], sizeof(float));
        __pipeline_commit();
    }
    for (int round = 0; round < ROUNDS; round++) {
        int next = round + STAGES - 1;
        if (next < ROUNDS)
            __pipeline_memcpy_async(&tile[next % STAGES][t], &input[next * THREADS + t], 4); // expect: race a
        __pipeline_commit();
        __pipeline_wait_prior(STAGES - 1);
        __syncthreads();
        output[round * THREADS + t] = tile[round % STAGES][THREADS - 1 - t]; // expect: race a
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
