// cooperative_groups::memcpy_async of a block, waited for, and the block met before the tile is filled again.
#include "../corpus.h"
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>

namespace cg = cooperative_groups;

const int THREADS = 128, ROUNDS = 6;

__global__ void reverse(const float *input, float *output)
{
    __shared__ float tile[2][THREADS];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, tile[0], input, sizeof tile[0]);
    for (int round = 0; round < ROUNDS; round++) {
        if (round + 1 < ROUNDS) {
            cg::memcpy_async(block, tile[(round + 1) % 2], input + (round + 1) * THREADS, sizeof tile[0]);
            cg::wait_prior<1>(block);
        } else {
            cg::wait(block);
        }
        output[round * THREADS + threadIdx.x] = tile[round % 2][THREADS - 1 - threadIdx.x];
        block.sync();
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
