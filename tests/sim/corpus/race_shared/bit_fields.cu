// Bit-fields of one byte written by two threads: each write reads and stores the whole byte.
#include "../corpus.h"

struct state {
    unsigned char open : 1, dirty : 1, locked : 1;
};

__global__ void fill(int *output)
{
    __shared__ state s;
    if (threadIdx.x == 0)
        *(unsigned char *)&s = 0;
    __syncthreads();
    if (threadIdx.x == 1)
        s.open = 1; // expect: race a
    if (threadIdx.x == 2)
        s.dirty = 1; // expect: race a
    __syncthreads();
    if (threadIdx.x == 0)
        *output = s.open + s.dirty;
}

int main()
{
    int *output = device_zeros<int>(1);
    fill<<<1, 32>>>(output);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(output));
    return 0;
}
