// Lanes of a warp wait for one another by polling volatile shared memory: they need a barrier.
// cure: __syncthreads
#include "../corpus.h"

__global__ void wait(int *output)
{
    __shared__ volatile int ready;
    int t = threadIdx.x;
    if (t == 0)
        ready = 0;
    __syncthreads();
    if (t == 5)
        ready = 1;     // expect: race a
    while (ready == 0) // expect: race a
        ;
    output[t] = t;
}

int main()
{
    int *output = device_zeros<int>(32);
    wait<<<1, 32>>>(output);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(output));
    return 0;
}
