// A kernel that begins early reads what the one before it writes, and waits only then.
#include "dependent.h"

// memory: values
__device__ int values[COUNT];

__global__ void fill()
{
    cudaTriggerProgrammaticLaunchCompletion();
    values[index_of_thread()] = 7; // expect: missing-wait a
}

__global__ void copy(int *copies)
{
    int value = values[index_of_thread()]; // expect: missing-wait a
    cudaGridDependencySynchronize();
    copies[index_of_thread()] = value;
}

int main()
{
    int *copies, host[COUNT];
    CHECK(cudaMalloc(&copies, sizeof host));
    fill<<<BLOCKS, THREADS>>>();
    launch_early(copy, 0, copies);
    fetch(host, copies);
    CHECK(cudaFree(copies));
    return 0;
}
