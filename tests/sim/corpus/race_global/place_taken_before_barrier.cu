// Each block takes its place in the list before the barrier, by one atomic: however blocks take turns, none is taken
// twice, and shared memory stays each block's own.
// schedule: 1
#include "../corpus.h"

__global__ void append(int *count, int *list)
{
    __shared__ int place, mine[32];
    if (threadIdx.x == 0)
        place = atomicAdd(count, 1);
    mine[threadIdx.x] = blockIdx.x * 32 + threadIdx.x;
    __syncthreads();
    int other = mine[31 - threadIdx.x];
    __syncthreads();
    mine[threadIdx.x] = other;
    __syncthreads();
    list[place * 32 + threadIdx.x] = mine[31 - threadIdx.x];
}

int main()
{
    int *count = device_zeros<int>(1), *list = device_zeros<int>(12 * 32), result[12 * 32], seen[12] = {0};
    append<<<12, 32>>>(count, list);
    CHECK(cudaGetLastError());
    fetch(result, list);
    for (int i = 0; i < 12 * 32; i++) {
        REQUIRE(result[i] % 32 == i % 32);
        seen[result[i] / 32]++;
    }
    for (int block = 0; block < 12; block++)
        REQUIRE(seen[block] == 32);
    CHECK(cudaFree(count));
    CHECK(cudaFree(list));
    return 0;
}
