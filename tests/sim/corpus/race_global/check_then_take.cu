// Each thread looks whether enough is left, then takes it: what it read is old by then, though the taking is atomic.
#include "../corpus.h"

__global__ void withdraw(int *balance, int *taken)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (*balance >= 10) {       // expect: race a
        atomicSub(balance, 10); // expect: race a
        taken[i] = 10;
    }
}

int main()
{
    int *balance = device_ramp(1, 200, 0), *taken = device_zeros<int>(64);
    withdraw<<<2, 32>>>(balance, taken);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(balance));
    CHECK(cudaFree(taken));
    return 0;
}
