// A struct passed by value holds one device pointer and one host pointer.
#include "../corpus.h"

struct pair {
    int *input, *output;
};

__global__ void copy(pair p)
{
    int value = p.input[threadIdx.x]; // expect: host-pointer
    p.output[threadIdx.x] = value;
}

int main()
{
    static int numbers[32];
    pair p = {numbers, device_zeros<int>(32)};
    copy<<<1, 32>>>(p);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(p.output));
    return 0;
}
