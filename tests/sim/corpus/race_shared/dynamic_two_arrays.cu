// Two arrays carved out of one dynamic buffer overlap because the first one's size was counted in elements, not bytes.
#include "../corpus.h"

extern __shared__ char buffer[];

__global__ void both(float *output, int n)
{
    float *first = (float *)buffer, *second = (float *)(buffer + n);
    int t = threadIdx.x;
    first[t] = (float)t;   // expect: race a
    second[t] = (float)-t; // expect: race a
    __syncthreads();
    output[t] = first[t] + second[t];
}

int main()
{
    float *output = device_zeros<float>(64);
    both<<<1, 64, 2 * 64 * sizeof(float)>>>(output, 64);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(output));
    return 0;
}
