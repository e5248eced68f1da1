// Blocks write neighbouring bytes of the same word, and 16-bit halves: no race.
#include "../corpus.h"

__global__ void fill(unsigned char *bytes, unsigned short *halves)
{
    bytes[threadIdx.x * gridDim.x + blockIdx.x] = (unsigned char)threadIdx.x;
    halves[threadIdx.x * gridDim.x + blockIdx.x] = (unsigned short)threadIdx.x;
}

int main()
{
    unsigned char *bytes = device_zeros<unsigned char>(96), result[96];
    unsigned short *halves = device_zeros<unsigned short>(96);
    fill<<<3, 32>>>(bytes, halves);
    CHECK(cudaGetLastError());
    fetch(result, bytes);
    for (int i = 0; i < 96; i++)
        REQUIRE(result[i] == i / 3);
    CHECK(cudaFree(bytes));
    CHECK(cudaFree(halves));
    return 0;
}
