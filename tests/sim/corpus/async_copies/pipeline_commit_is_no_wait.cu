// What others have stored before they committed a stage is read behind this thread's own commit: only the wait orders.
#include "../corpus.h"
#include <cooperative_groups.h>
#include <cuda/pipeline>

const int THREADS = 64, ROUNDS = 2;

__global__ void reverse(const float *input, float *output)
{
    __shared__ float tile[ROUNDS][THREADS];
    __shared__ float seen[THREADS];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, ROUNDS> state;
    auto block = cooperative_groups::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    for (int round = 0; round < ROUNDS; round++) {
        pipe.producer_acquire();
        cuda::memcpy_async(block, tile[round], input + round * THREADS, sizeof tile[0], pipe);
        seen[threadIdx.x] = 1; // expect: race a
        pipe.producer_commit();
    }
    float other = seen[THREADS - 1 - threadIdx.x]; // expect: race a
    for (int round = 0; round < ROUNDS; round++) {
        pipe.consumer_wait();
        output[round * THREADS + threadIdx.x] = other * tile[round][THREADS - 1 - threadIdx.x];
        pipe.consumer_release();
    }
}

int main()
{
    float *input = device_ramp<float>(THREADS * ROUNDS, 0, 1), *output = device_zeros<float>(THREADS * ROUNDS);
    reverse<<<1, THREADS>>>(input, output);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(input));
    CHECK(cudaFree(output));
    return 0;
}
