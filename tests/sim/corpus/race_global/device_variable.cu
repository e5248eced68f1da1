// A __device__ variable written by every block without atomics, in whichever order they come: their values all differ.
#include "../corpus.h"

__device__ float latest;

__global__ void keep(const float *data)
{
    float mine = data[blockIdx.x];
    if (mine != latest) // expect: race a
        latest = mine;  // expect: race a; race b
}

int main()
{
    float *data = device_ramp(8, 1.0f, 1.0f), zero = 0;
    CHECK(cudaMemcpyToSymbol(latest, &zero, sizeof zero));
    keep<<<8, 1>>>(data);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(data));
    return 0;
}
