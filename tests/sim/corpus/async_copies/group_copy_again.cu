// cooperative_groups::memcpy_async into a tile that other threads of the block may still read.
#include "../corpus.h"
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>

namespace cg = cooperative_groups;

const int THREADS = 128, ROUNDS = 6;

__global__ void reverse(const float *input, float *output)
{
    __shared__ float tile[THREADS];
    auto block = cg::this_thread_block();
    for (int round = 0; round < ROUNDS; round++) {
        cg::memcpy_async(block, tile, input + round * THREADS, sizeof tile); // expect: race a
        cg::wait(block);
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
