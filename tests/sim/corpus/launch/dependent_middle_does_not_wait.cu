// Of three kernels the one in the middle does not wait, so that the third, which does, waits for the middle one alone.
#include "dependent.h"

__global__ void fill(int *values)
{
    cudaTriggerProgrammaticLaunchCompletion();
    values[index_of_thread()] = 7; // expect: missing-wait a
}

__global__ void other(int *others)
{
    cudaTriggerProgrammaticLaunchCompletion();
    others[index_of_thread()] = 1;
}

__global__ void add(int *values, const int *others)
{
    cudaGridDependencySynchronize();
    values[index_of_thread()] += others[index_of_thread()]; // expect: missing-wait a
}

int main()
{
    int *values, *others, host[COUNT];
    CHECK(cudaMalloc(&values, sizeof host));
    CHECK(cudaMalloc(&others, sizeof host));
    fill<<<BLOCKS, THREADS>>>(values);
    launch_early(other, 0, others);
    launch_early(add, 0, values, others);
    fetch(host, values);
    CHECK(cudaFree(values));
    CHECK(cudaFree(others));
    return 0;
}
