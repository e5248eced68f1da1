// A __device__ variable written by every block without atomics.
#include "../corpus.h"

__device__ float largest;

__global__ void maximum(const float *data)
{
    float mine = data[blockIdx.x];
    if (mine > largest) // expect: race a
        largest = mine; // expect: race a; race b
}

int main()
{
    float *data = device_ramp(8, 1.0f, 1.0f), zero = 0;
    CHECK(cudaMemcpyToSymbol(largest, &zero, sizeof zero));
    maximum<<<8, 1>>>(data);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(data));
    return 0;
}
