// Managed memory that a kernel updates by atomics alone, read and written by the host while the kernel may still run.
#include "../corpus.h"

__global__ void count(int *counter, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && i % 3 == 0)
        atomicAdd(counter, 1);
}

__global__ void highest(int *bins, int *places)
{
    atomicMax(&bins[threadIdx.x], (int)threadIdx.x);
    places[1 + atomicAdd_system(places, 1)] = threadIdx.x;
}

int main()
{
    int *counter = NULL, *bins = NULL, *places = NULL;
    CHECK(cudaMallocManaged(&counter, sizeof(int)));
    CHECK(cudaMallocManaged(&bins, 64 * sizeof(int)));
    CHECK(cudaMallocManaged(&places, 65 * sizeof(int)));
    *counter = places[0] = 0;
    for (int i = 0; i < 64; i++)
        bins[i] = 0;
    count<<<2, 128>>>(counter, 200); // expect: missing-wait a+
    printf("%d\n", *counter);        // expect: missing-wait a+
    SHOW(cudaDeviceSynchronize());
    highest<<<1, 64>>>(bins, places); // expect: missing-wait b+; missing-wait c+
    bins[5] = 7;                      // expect: missing-wait b+
    printf("%d\n", places[0]);        // expect: missing-wait c+
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(counter));
    SHOW(cudaFree(bins));
    SHOW(cudaFree(places));
    return 0;
}
