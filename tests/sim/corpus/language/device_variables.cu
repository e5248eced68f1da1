// __device__, __constant__ and static device variables, with initialisers, used by several kernels.
#include "../corpus.h"

__device__ int counter = 5;
__constant__ float weights[3] = {0.25f, 0.5f, 0.25f};
static __device__ unsigned histogram[4];

__global__ void work(float *output)
{
    int t = threadIdx.x;
    atomicAdd(&counter, 1);
    atomicAdd(&histogram[t % 4], 1u);
    output[t] = weights[0] + weights[1] * t + weights[2] * t * t;
}

__global__ void collect(int *output)
{
    output[0] = counter;
    output[1] = (int)(histogram[0] + histogram[1] + histogram[2] + histogram[3]);
}

int main()
{
    float *a = device_zeros<float>(32), x[32];
    int *b = device_zeros<int>(2), y[2];
    work<<<1, 32>>>(a);
    collect<<<1, 1>>>(b);
    CHECK(cudaGetLastError());
    fetch(x, a);
    fetch(y, b);
    REQUIRE(x[2] == 0.25f + 1.0f + 1.0f && y[0] == 37 && y[1] == 32);
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    return 0;
}
