// cuda::memcpy_async under a barrier, issued into the tile that threads which passed the same phase still read.
#include "../corpus.h"
#include <cooperative_groups.h>
#include <cuda/barrier>

const int THREADS = 128, ROUNDS = 6;

__global__ void reverse(const float *input, float *output)
{
    __shared__ float tile[THREADS];
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    auto block = cooperative_groups::this_thread_block();
    if (block.thread_rank() == 0)
        init(&barrier, block.size());
    block.sync();
    for (int round = 0; round < ROUNDS; round++) {
        cuda::memcpy_async(block, tile, input + round * THREADS, sizeof tile, barrier); // expect: race a
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
