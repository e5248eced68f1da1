// cuda::pipeline of a block: the stage is released before it is read, so the next copy may come first.
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
            float *stage = tile[next % STAGES];
            cuda::memcpy_async(block, stage, input + next * THREADS, sizeof tile[0], pipe); // expect: race a
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        pipe.consumer_release();
        output[round * THREADS + threadIdx.x] = tile[round % STAGES][THREADS - 1 - threadIdx.x]; // expect: race a
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
