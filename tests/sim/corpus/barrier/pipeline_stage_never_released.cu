// A pipeline of a block whose consumers never release a stage: when all are full, the producers wait for ever.
// cure: consumer_release
#include "../corpus.h"
#include <cooperative_groups.h>
#include <cuda/pipeline>

const int THREADS = 64, ROUNDS = 4, STAGES = 2;

__global__ void reverse(const float *input, float *output)
{
    __shared__ float tile[STAGES][THREADS];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    auto block = cooperative_groups::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    for (int round = 0, next = 0; round < ROUNDS; round++) {
        for (; next < ROUNDS && next < round + STAGES; next++) {
            pipe.producer_acquire(); // expect: spin
            cuda::memcpy_async(block, tile[next % STAGES], input + next * THREADS, sizeof tile[0], pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        output[round * THREADS + threadIdx.x] = tile[round % STAGES][THREADS - 1 - threadIdx.x];
    }
}

int main()
{
    float *input = device_ramp<float>(THREADS * ROUNDS, 0, 1), *output = device_zeros<float>(THREADS * ROUNDS);
    reverse<<<1, THREADS>>>(input, output);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(input));
    SHOW(cudaFree(output));
    return 0;
}
