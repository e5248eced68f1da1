// A thread reads and writes its own element, which a thread of another warp has read: that one is to be named.
#include "../corpus.h"

__global__ void add(const int *input, int *output)
{
    __shared__ int box[64];
    int t = threadIdx.x;
    box[t] = input[t];
    __syncthreads();
    if (t < 32)
        output[t] = box[t + 32]; // expect: race a
    else
        box[t] += 1; // expect: race a
}

int main()
{
    int *input = device_ramp(64, 0, 1), *output = device_zeros<int>(64);
    add<<<1, 64>>>(input, output);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(input));
    SHOW(cudaFree(output));
    return 0;
}
