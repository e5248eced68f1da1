// Kernels that begin early and wait before they touch what the one before uses: all threads, or one before a barrier.
#include "dependent.h"

__global__ void fill(int *values, const int *weights)
{
    int i = index_of_thread();
    cudaTriggerProgrammaticLaunchCompletion();
    values[i] = i * weights[i];
}

__global__ void add(const int *values, const int *weights, int *sums)
{
    int i = index_of_thread(), weight = weights[i]; // which nobody writes
    cudaGridDependencySynchronize();
    cudaTriggerProgrammaticLaunchCompletion();
    sums[i] = values[COUNT - 1 - i] + weight;
}

__global__ void add_for_all(int *values, int *sums)
{
    __shared__ int tile[THREADS];
    int i = index_of_thread();
    tile[threadIdx.x] = i;
    if (threadIdx.x == 0)
        asm volatile("griddepcontrol.wait;" ::: "memory");
    __syncthreads();
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    values[i] += sums[COUNT - 1 - i] + tile[threadIdx.x];
}

int main()
{
    int *weights = device_ramp<int>(COUNT, 1, 0), *values, *sums, host[COUNT];
    CHECK(cudaMalloc(&values, sizeof host));
    CHECK(cudaMalloc(&sums, sizeof host));
    fill<<<BLOCKS, THREADS>>>(values, weights);
    launch_early(add, 0, values, weights, sums);
    launch_early(add_for_all, 0, values, sums);
    launch_early(add, 0, values, weights, sums);
    fetch(host, sums);
    REQUIRE(host[0] == 3 * (COUNT - 1) + 2);
    CHECK(cudaFree(weights));
    CHECK(cudaFree(values));
    CHECK(cudaFree(sums));
    return 0;
}
