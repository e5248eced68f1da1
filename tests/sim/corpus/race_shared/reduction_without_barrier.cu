// A tree reduction whose loop has no barrier.
#include "../corpus.h"

__global__ void sum(const int *input, int *output)
{
    __shared__ int part[128];
    int t = threadIdx.x;
    part[t] = input[t];
    __syncthreads();
    for (int half = 64; half > 0; half /= 2)
        if (t < half)
            part[t] += part[t + half]; // expect: race
    if (t == 0)
        *output = part[0];
}

int main()
{
    int *input = device_ramp(128, 0, 1), *output = device_zeros<int>(1);
    sum<<<1, 128>>>(input, output);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(input));
    CHECK(cudaFree(output));
    return 0;
}
