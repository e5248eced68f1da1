// A tile is filled again while other threads may still read it: they have passed the same phase of the barrier.
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
        tile[threadIdx.x] = input[round * THREADS + threadIdx.x]; // expect: race a
        barrier.arrive_and_wait();
        output[round * THREADS + threadIdx.x] = tile[THREADS - 1 - threadIdx.x]; // expect: race a
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
