// Flags packed eight to a byte and set with |=: threads of one byte lose each other's bits.
#include "../corpus.h"

__global__ void mark(const int *data, unsigned char *flags)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (data[i] % 3 == 0)
        flags[i / 8] |= (unsigned char)(1 << i % 8); // expect: race
}

int main()
{
    int *data = device_ramp(128, 0, 1);
    unsigned char *flags = device_zeros<unsigned char>(16);
    mark<<<2, 64>>>(data, flags);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(data));
    CHECK(cudaFree(flags));
    return 0;
}
