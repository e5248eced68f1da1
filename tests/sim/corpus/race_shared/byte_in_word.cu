// One thread reads a whole word while another writes its third byte.
#include "../corpus.h"

__global__ void patch(unsigned *output)
{
    __shared__ unsigned word;
    if (threadIdx.x == 0)
        word = 0;
    __syncthreads();
    if (threadIdx.x == 1)
        ((unsigned char *)&word)[2] = 5; // expect: race a
    if (threadIdx.x == 40)
        *output = word; // expect: race a
}

int main()
{
    unsigned *output = device_zeros<unsigned>(1);
    patch<<<1, 64>>>(output);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(output));
    return 0;
}
