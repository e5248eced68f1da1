// Each block looks how long the list is, meets at a barrier, and appends there: two blocks in the middle of it at once
// take the same place. Blocks that run one after the other never do.
// schedule: 1
#include "../corpus.h"

__global__ void append(int *count, int *list)
{
    __shared__ int place;
    if (threadIdx.x == 0)
        place = atomicAdd(count, 0);
    __syncthreads();
    if (threadIdx.x == 0) {
        list[place] = blockIdx.x; // expect: race
        atomicAdd(count, 1);
    }
}

int main()
{
    int *count = device_zeros<int>(1), *list = device_zeros<int>(4);
    append<<<4, 32>>>(count, list);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(count));
    SHOW(cudaFree(list));
    return 0;
}
