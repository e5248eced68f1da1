// Consumers arrive (bar.arrive) at the barrier that says the buffer is empty before they have read it.
#include "../corpus.h"

const int HALF = 64, ROUNDS = 6;

__device__ void arrive(int id)
{
    asm volatile("bar.arrive %0, %1;" ::"r"(id), "n"(2 * HALF) : "memory");
}

__device__ void wait(int id)
{
    asm volatile("barrier.cta.sync %0, %1;" ::"r"(id), "n"(2 * HALF) : "memory");
}

// Barriers 1 and 2: the buffer is full; 3 and 4: it is empty again.
__global__ void reverse(const int *input, int *output)
{
    __shared__ int buffer[2][HALF];
    int t = threadIdx.x % HALF;
    if (threadIdx.x < HALF) {
        for (int round = 0; round < ROUNDS; round++) {
            if (round >= 2)
                wait(3 + round % 2);
            buffer[round % 2][t] = input[round * HALF + t]; // expect: race a
            arrive(1 + round % 2);
        }
    } else {
        for (int round = 0; round < ROUNDS; round++) {
            wait(1 + round % 2);
            if (round + 2 < ROUNDS)
                arrive(3 + round % 2);
            output[round * HALF + t] = buffer[round % 2][HALF - 1 - t]; // expect: race a
        }
    }
}

int main()
{
    int *input = device_ramp<int>(HALF * ROUNDS, 0, 1), *output = device_zeros<int>(HALF * ROUNDS);
    reverse<<<1, 2 * HALF>>>(input, output);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(input));
    CHECK(cudaFree(output));
    return 0;
}
