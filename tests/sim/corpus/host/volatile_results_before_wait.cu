// Results that a kernel stores through volatile are read, and written over, plainly while it may still run.
#include "../corpus.h"

__global__ void fill(volatile int *data)
{
    data[threadIdx.x] = threadIdx.x;
}

int main()
{
    int *data = NULL;
    CHECK(cudaMallocManaged(&data, 32 * sizeof(int)));
    fill<<<1, 32>>>(data);   // expect: missing-wait a+
    printf("%d\n", data[3]); // expect: missing-wait a+
    SHOW(cudaDeviceSynchronize());
    fill<<<1, 32>>>(data); // expect: missing-wait b+
    data[3] = 1;           // expect: missing-wait b+
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(data));
    return 0;
}
