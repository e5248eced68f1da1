// cp.async as inline PTX, two buffers, and no barrier between the reads of a round and the copy of the next.
#include "../corpus.h"

const int THREADS = 128, ROUNDS = 6;

__device__ void copy(void *to, const void *from)
{
    unsigned shared = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared), "l"(from) : "memory"); // expect: race a
}

__global__ void reverse(const float *input, float *output)
{
    __shared__ float tile[2][THREADS];
    int t = threadIdx.x;
    copy(&tile[0][t], &input[t]);
    asm volatile("cp.async.commit_group;" ::: "memory");
    for (int round = 0; round < ROUNDS; round++) {
        if (round + 1 < ROUNDS)
            copy(&tile[(round + 1) % 2][t], &input[(round + 1) * THREADS + t]);
        asm volatile("cp.async.commit_group;" ::: "memory");
        asm volatile("cp.async.wait_group 1;" ::: "memory");
        __syncthreads();
        output[round * THREADS + t] = tile[round % 2][THREADS - 1 - t]; // expect: race a
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
