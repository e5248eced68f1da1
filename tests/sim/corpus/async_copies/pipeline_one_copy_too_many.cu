// As many copies as there are stages, and one more: it goes into the stage that is read next.
#include "../corpus.h"
#include <cuda/pipeline>

const int THREADS = 64, ROUNDS = 8, STAGES = 4;

__global__ void reverse(const float *input, float *output)
{
    __shared__ float tile[STAGES][THREADS];
    int t = threadIdx.x;
    auto pipe = cuda::make_pipeline();
    for (int round = 0, next = 0; round < ROUNDS; round++) {
        for (; next <= round + STAGES; next++) {
            pipe.producer_acquire();
            if (next < ROUNDS) {
                float *stage = tile[next % STAGES];
                cuda::memcpy_async(&stage[t], &input[next * THREADS + t], sizeof(float), pipe); // expect: race a
            }
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        __syncthreads();
        output[round * THREADS + t] = tile[round % STAGES][THREADS - 1 - t]; // expect: race a
        pipe.consumer_release();
        __syncthreads();
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
// cure: Wait for the copy
