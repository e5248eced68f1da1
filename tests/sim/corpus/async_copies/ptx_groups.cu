// cp.async as inline PTX: groups, all but one of which are waited for, and wait_all for what is in no group.
#include "../corpus.h"

const int THREADS = 128, ROUNDS = 6;

__device__ void copy(void *to, const void *from)
{
    unsigned shared = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared), "l"(from) : "memory");
}

__global__ void reverse(const float *input, float *output)
{
    __shared__ float tile[2][THREADS];
    int t = threadIdx.x;
    copy(&tile[0][t], &input[t]);
    asm volatile("cp.async.commit_group;" ::: "memory");
    for (int round = 0; round + 1 < ROUNDS; round++) {
        copy(&tile[(round + 1) % 2][t], &input[(round + 1) * THREADS + t]);
        asm volatile("cp.async.commit_group;" ::: "memory");
        asm volatile("cp.async.wait_group 1;" ::: "memory");
        __syncthreads();
        output[round * THREADS + t] = tile[round % 2][THREADS - 1 - t];
        __syncthreads();
    }
    copy(&tile[ROUNDS % 2][t], &input[t]);
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    output[(ROUNDS - 1) * THREADS + t] = tile[(ROUNDS - 1) % 2][THREADS - 1 - t] + 0 * tile[ROUNDS % 2][t];
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
