// cuda::pipeline of a block whose stages are used again and again, each thread copying an element of its own: waiting for
// a stage orders its reader behind the copies of all, also of those that arrive while it waits.
#include "../corpus.h"
#include <cooperative_groups.h>
#include <cuda/pipeline>

const int THREADS = 64, ROUNDS = 6, LOOKS = 16;

template <int STAGES> __global__ void sums(const int *input, int *output)
{
    __shared__ int tile[STAGES][THREADS];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    auto block = cooperative_groups::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    int x = threadIdx.x, sum = 0;
    for (int round = 0, next = 0; round < ROUNDS; round++) {
        for (; next < ROUNDS && next < round + STAGES; next++) {
            pipe.producer_acquire();
            cuda::memcpy_async(&tile[next % STAGES][x], &input[next * THREADS + x], sizeof(int), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        for (int k = 0; k < LOOKS; k++)
            sum += tile[round % STAGES][(x + k * 16) % THREADS];
        pipe.consumer_release();
    }
    output[x] = sum;
}

int main()
{
    static int host[THREADS];
    int *input = device_ramp<int>(THREADS * ROUNDS, 1, 0), *output = device_zeros<int>(THREADS);
    sums<1><<<1, THREADS>>>(input, output);
    CHECK(cudaGetLastError());
    fetch(host, output);
    for (int sum : host)
        REQUIRE(sum == ROUNDS * LOOKS);
    sums<3><<<1, THREADS>>>(input, output);
    CHECK(cudaGetLastError());
    fetch(host, output);
    for (int sum : host)
        REQUIRE(sum == ROUNDS * LOOKS);
    CHECK(cudaFree(input));
    CHECK(cudaFree(output));
    return 0;
}
