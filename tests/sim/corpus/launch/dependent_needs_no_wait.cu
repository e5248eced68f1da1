// Where a copy or a wait of the host stands between two kernels the second does not begin early, and in another order
// of launches an early one touches nothing that those before it use.
#include "dependent.h"

__global__ void fill(int *values)
{
    cudaTriggerProgrammaticLaunchCompletion();
    values[index_of_thread()] = 7;
}

__global__ void add(int *values, const int *others)
{
    values[index_of_thread()] += others[COUNT - 1 - index_of_thread()];
}

__global__ void wait_and_pass(int *values)
{
    cudaGridDependencySynchronize();
    cudaTriggerProgrammaticLaunchCompletion();
    values[index_of_thread()] = 1;
}

int main()
{
    int *values, *others = device_zeros<int>(COUNT), *more, host[COUNT];
    CHECK(cudaMalloc(&values, sizeof host));
    CHECK(cudaMalloc(&more, sizeof host));
    fill<<<BLOCKS, THREADS>>>(values);
    CHECK(cudaMemsetAsync(others, 0, sizeof host));
    launch_early(add, 0, values, others);
    CHECK(cudaDeviceSynchronize());
    launch_early(add, 0, values, others);
    launch_early(wait_and_pass, 0, more); // once it lets the next begin, all before it have ended
    launch_early(add, 0, values, others);
    fill<<<BLOCKS, THREADS>>>(more); // not early
    fetch(host, values);
    REQUIRE(host[0] == 7);
    CHECK(cudaFree(values));
    CHECK(cudaFree(others));
    CHECK(cudaFree(more));
    return 0;
}
