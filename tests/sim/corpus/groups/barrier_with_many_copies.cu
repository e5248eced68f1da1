// A barrier waits for copies of all threads, round after round, with no other barrier of the block between the rounds.
#include "../corpus.h"
#include <cooperative_groups.h>
#include <cuda/barrier>

const int THREADS = 256, ROUNDS = 4;

__global__ void reverse(const float *input, float *output)
{
    __shared__ float tile[THREADS];
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    auto block = cooperative_groups::this_thread_block();
    if (block.thread_rank() == 0)
        init(&barrier, block.size());
    block.sync();
    for (int round = 0; round < ROUNDS; round++) {
        cuda::memcpy_async(block, tile, input + round * THREADS, sizeof tile, barrier);
        barrier.arrive_and_wait();
        output[round * THREADS + threadIdx.x] = tile[THREADS - 1 - threadIdx.x];
        barrier.arrive_and_wait();
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
