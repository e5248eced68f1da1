// One block updates with atomics what another updates with a plain read-modify-write.
#include "../corpus.h"

__global__ void add(int *counter)
{
    if (threadIdx.x != 0)
        return;
    if (blockIdx.x % 2 == 0)
        atomicAdd(counter, 1); // expect: race a
    else
        *counter += 1; // expect: race a; race b
}

int main()
{
    int *counter = device_zeros<int>(1);
    add<<<4, 32>>>(counter);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(counter));
    return 0;
}
