// cuda::pipeline of a block with two stages: acquire and release order the rounds without another barrier.
#include "../corpus.h"
#include <cooperative_groups.h>
#include <cuda/pipeline>

const int THREADS = 128, ROUNDS = 6;

const int STAGES = 2;

__global__ void reverse(const float *input, float *output)
{
    __shared__ float tile[STAGES][THREADS];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    auto block = cooperative_groups::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    for (int round = 0, next = 0; round < ROUNDS; round++) {
        for (; next < ROUNDS && next < round + STAGES; next++) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, tile[next % STAGES], input + next * THREADS, sizeof tile[0], pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        output[round * THREADS + threadIdx.x] = tile[round % STAGES][THREADS - 1 - threadIdx.x];
        pipe.consumer_release();
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
