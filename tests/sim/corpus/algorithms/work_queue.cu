// Persistent threads take work items from a queue by atomics until it is empty.
#include "../corpus.h"

__global__ void worker(unsigned *head, unsigned items, int *done, int *by_block)
{
    __shared__ unsigned item;
    for (;;) {
        if (threadIdx.x == 0)
            item = atomicAdd(head, 1u);
        __syncthreads();
        unsigned mine = item;
        __syncthreads();
        if (mine >= items)
            break;
        if (threadIdx.x < 8)
            done[mine * 8 + threadIdx.x] = (int)mine;
        if (threadIdx.x == 0)
            atomicAdd(&by_block[blockIdx.x], 1);
    }
}

int main()
{
    unsigned *head = device_zeros<unsigned>(1);
    int *done = device_zeros<int>(20 * 8), *by_block = device_zeros<int>(3), result[160], counts[3];
    worker<<<3, 32>>>(head, 20, done, by_block);
    CHECK(cudaGetLastError());
    fetch(result, done);
    fetch(counts, by_block);
    REQUIRE(counts[0] + counts[1] + counts[2] == 20 && result[159] == 19);
    CHECK(cudaFree(head));
    CHECK(cudaFree(done));
    CHECK(cudaFree(by_block));
    return 0;
}
