// Ranges over device variables whose addresses cudaGetSymbolAddress gave: where one ends another may begin.
#include "../corpus.h"

__device__ float first[64], second[64], third[64];

__global__ void set(float *begin, float *end)
{
    for (float *at = begin; at < end; at++)
        *at = first[0] * 0 + second[0] * 0 + third[0] * 0;
}

int main()
{
    float *begin = NULL, *others[2];
    CHECK(cudaGetSymbolAddress((void **)&begin, second));
    set<<<1, 1>>>(begin, begin + 64);
    CHECK(cudaMemset(begin, 0, 64 * sizeof(float)));
    CHECK(cudaGetSymbolAddress((void **)&others[0], first));
    CHECK(cudaGetSymbolAddress((void **)&others[1], third));
    for (int i = 0; i < 2; i++)
        set<<<1, 1>>>(others[i] + 5, others[i] + 64);
    CHECK(cudaDeviceSynchronize());
    return 0;
}
