// Blocks keep pointers to their own shared memory in global memory, each where no other looks, across barriers of the
// block and of the grid; a copy of the pointers that nobody follows is nothing wrong.
#include "../corpus.h"
#include <cooperative_groups.h>

const int BLOCKS = 4, THREADS = 64;

struct work {
    long tag;
    int *first, *last;
};

__global__ void kept(work *all, int *output)
{
    __shared__ int values[THREADS];
    work *own = &all[blockIdx.x];
    values[threadIdx.x] = (int)(blockIdx.x * THREADS + threadIdx.x);
    if (threadIdx.x == 0)
        *own = {(long)blockIdx.x, values, values + THREADS - 1};
    __syncthreads();
    cooperative_groups::this_grid().sync();
    output[blockIdx.x * THREADS + threadIdx.x] = own->first[threadIdx.x] + *own->last;
    cooperative_groups::this_grid().sync();
    if (threadIdx.x == 0)
        own->first[0] = (int)own->tag;
    __syncthreads();
    output[blockIdx.x * THREADS + threadIdx.x] += own->first[0];
}

__global__ void copy(const work *from, work *to)
{
    to[threadIdx.x] = from[threadIdx.x];
}

int main()
{
    work *all = device_zeros<work>(BLOCKS), *others = device_zeros<work>(BLOCKS);
    int *output = device_zeros<int>(BLOCKS * THREADS), host[BLOCKS * THREADS];
    void *arguments[] = {&all, &output};
    for (int round = 0; round < 2; round++)
        CHECK(cudaLaunchCooperativeKernel((void *)kept, BLOCKS, THREADS, arguments, 0, 0));
    copy<<<1, BLOCKS>>>(all, others);
    fetch(host, output);
    for (int i = 0; i < BLOCKS * THREADS; i++)
        REQUIRE(host[i] == i + (i / THREADS + 1) * THREADS - 1 + i / THREADS);
    CHECK(cudaFree(all));
    CHECK(cudaFree(others));
    CHECK(cudaFree(output));
    return 0;
}
