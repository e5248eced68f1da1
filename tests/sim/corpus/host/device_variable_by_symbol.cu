// What host code may do with a device variable: its size, its address for the runtime, copies by symbol, a path of its own.
#include "../corpus.h"

__device__ int counter, handed = 3;
__constant__ float weights[8];
static const float host_weights[8] = {1, 2, 3, 4, 5, 6, 7, 8};

__host__ __device__ float weight(int i)
{
#ifdef __CUDA_ARCH__
    return weights[i];
#else
    return host_weights[i];
#endif
}

__global__ void count(float *output)
{
    atomicAdd(&counter, 1);
    output[threadIdx.x] = weight(threadIdx.x);
}

__global__ void hand_out(int **address)
{
    *address = &handed;
}

__global__ void reset(int *address)
{
    *address = 0;
}

int main()
{
    float *output = device_zeros<float>(8), sum = 0, back[8];
    int counted = 0, *address = NULL;
    size_t bytes = 0;
    CHECK(cudaMemcpyToSymbol(weights, host_weights, sizeof weights));
    CHECK(cudaMemcpyToSymbol(counter, &counted, sizeof counter));
    count<<<1, 8>>>(output);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpyFromSymbol(&counted, counter, sizeof(counter)));
    CHECK(cudaGetSymbolAddress((void **)&address, counter));
    CHECK(cudaGetSymbolSize(&bytes, weights));
    void *table = NULL;
    CHECK(cudaGetSymbolAddress(&table, (const void *)&weights));
    CHECK(cudaMemcpy(table, host_weights, sizeof weights, cudaMemcpyHostToDevice));
    fetch(back, output);
    for (int i = 0; i < 8; i++)
        sum += weight(i) - back[i];
    REQUIRE(counted == 8 && bytes == sizeof(float) * 8 && sum == 0);
    int **place = device_zeros<int *>(1), *taken[1];
    hand_out<<<1, 1>>>(place);
    fetch(taken, place);
    reset<<<1, 1>>>(taken[0]);
    CHECK(cudaMemcpyFromSymbol(&counted, handed, sizeof handed));
    REQUIRE(counted == 0);
    CHECK(cudaFree(place));
    CHECK(cudaFree(output));
    return 0;
}
