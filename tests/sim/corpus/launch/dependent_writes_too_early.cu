// A kernel that begins early overwrites what the one before it reads. Only its first warp has waited.
#include "dependent.h"

__global__ void add(const int *values, int *sums)
{
    asm volatile("griddepcontrol.launch_dependents;");
    sums[index_of_thread()] += values[index_of_thread()]; // expect: missing-wait a
}

__global__ void fill(int *values)
{
    if (threadIdx.x < warpSize)
        asm volatile("griddepcontrol.wait;" ::: "memory");
    values[index_of_thread()] = 7; // expect: missing-wait a
}

int main()
{
    int *values = device_zeros<int>(COUNT), *sums = device_zeros<int>(COUNT);
    cudaStream_t stream;
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaStreamCreate(&stream));
    add<<<BLOCKS, THREADS, 0, stream>>>(values, sums);
    launch_early(fill, stream, values);
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(values));
    CHECK(cudaFree(sums));
    return 0;
}
