// Threads keep pointers to their own local variables in shared and global memory, across barriers of the warp, the
// block and the grid, and follow them themselves; others see the pointers and do not follow them.
#include "../corpus.h"
#include <cooperative_groups.h>

const int BLOCKS = 3, THREADS = 96;

struct node {
    int value;
    node *next;
};

struct record {
    long tag;
    int *place;
};

__global__ void kept(record *all, int *output)
{
    __shared__ node *heads[THREADS];
    __shared__ record seen[THREADS];
    const int t = (int)threadIdx.x, i = (int)blockIdx.x * THREADS + t;
    node second = {i, NULL}, first = {1, &second};
    heads[t] = &first;
    all[i] = {i, &second.value};
    __syncwarp();
    heads[t]->value += heads[t]->next->value;
    __syncthreads();
    seen[t] = all[(int)blockIdx.x * THREADS + (t + 1) % THREADS];
    *all[i].place += 1;
    cooperative_groups::this_grid().sync();
    int sum = __shfl_xor_sync(0xffffffff, (int)seen[t].tag, 1);
    for (node *at = heads[t]; at; at = at->next)
        sum += at->value;
    __syncthreads();
    output[i] = sum - (int)seen[t ^ 1].tag + (seen[t].place != NULL);
}

int main()
{
    record *all = device_zeros<record>(BLOCKS * THREADS);
    int *output = device_zeros<int>(BLOCKS * THREADS), host[BLOCKS * THREADS];
    void *arguments[] = {&all, &output};
    for (int round = 0; round < 2; round++)
        CHECK(cudaLaunchCooperativeKernel((void *)kept, BLOCKS, THREADS, arguments, 0, 0));
    fetch(host, output);
    for (int i = 0; i < BLOCKS * THREADS; i++)
        REQUIRE(host[i] == 1 + i + i + 1 + 1);
    CHECK(cudaFree(all));
    CHECK(cudaFree(output));
    return 0;
}
