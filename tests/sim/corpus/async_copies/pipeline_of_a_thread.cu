// cuda::pipeline of each thread: its own copies, in two stages, read by itself alone; no barrier is needed.
#include "../corpus.h"
#include <cooperative_groups.h>
#include <cuda/pipeline>

const int THREADS = 128, ROUNDS = 6;

__global__ void twice_back(const float *input, float *output)
{
    __shared__ float tile[2][THREADS];
    int t = threadIdx.x, from = THREADS - 1 - t;
    auto pipe = cuda::make_pipeline();
    for (int round = 0, next = 0; round < ROUNDS; round++) {
        for (; next < ROUNDS && next < round + 2; next++) {
            pipe.producer_acquire();
            cuda::memcpy_async(&tile[next % 2][t], &input[next * THREADS + from], sizeof(float), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        output[round * THREADS + t] = tile[round % 2][t];
        pipe.consumer_release();
    }
}

int main()
{
    static float host[THREADS * ROUNDS];
    float *input = device_ramp<float>(THREADS * ROUNDS, 0, 1), *output = device_zeros<float>(THREADS * ROUNDS);
    twice_back<<<1, THREADS>>>(input, output);
    CHECK(cudaGetLastError());
    fetch(host, output);
    for (int i = 0; i < THREADS * ROUNDS; i++)
        REQUIRE(host[i] == i / THREADS * THREADS + THREADS - 1 - i % THREADS);
    CHECK(cudaFree(input));
    CHECK(cudaFree(output));
    return 0;
}
