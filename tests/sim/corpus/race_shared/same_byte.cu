// Two threads write the same byte of a word; the other bytes are each thread's own.
#include "../corpus.h"

__global__ void mark(unsigned char *data)
{
    __shared__ unsigned char tile[64];
    int t = threadIdx.x;
    tile[t == 17 ? 18 : t] = (unsigned char)t; // expect: race
    __syncthreads();
    data[t] = t == 17 ? 0 : tile[t];
}

int main()
{
    unsigned char *data = device_zeros<unsigned char>(64);
    mark<<<1, 64>>>(data);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(data));
    return 0;
}
