// Three buffers in turn need one barrier a round: it stands before the copy that fills a buffer again.
#include "../corpus.h"
#include <cuda_pipeline.h>

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
        __pipeline_wait_prior(STAGES - 2);
        __syncthreads();
        int next = round + STAGES - 1;
        if (next < ROUNDS)
            __pipeline_memcpy_async(&tile[next % STAGES][t], &input[next * THREADS + t], sizeof(float));
        __pipeline_commit();
        output[round * THREADS + t] = tile[round % STAGES][THREADS - 1 - t];
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
