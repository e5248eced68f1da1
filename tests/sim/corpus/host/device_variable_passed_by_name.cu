// The name of a device variable where a pointer is wanted: on a GPU that is the address of the host's own copy.
#include "../corpus.h"

__device__ float table[32];
__device__ float buffer[32];
__constant__ float weights[32];

__global__ void fill(float *output, const float *factor)
{
    output[threadIdx.x] = threadIdx.x * factor[0];
}

__global__ void use(float *output)
{
    output[threadIdx.x] = table[threadIdx.x] + weights[threadIdx.x] + buffer[threadIdx.x];
}

int main()
{
    float host[32], *output = device_zeros<float>(32), *known = NULL;
    for (int i = 0; i < 32; i++)
        host[i] = 1;
    CHECK(cudaMemcpyToSymbol(table, host, sizeof host));
    CHECK(cudaMemcpyToSymbol(weights, host, sizeof host));
    SHOW(cudaMemcpy(table, host, sizeof host, cudaMemcpyHostToDevice)); // expect: bad-call
    SHOW(cudaMemset(table, 0, sizeof host));                            // expect: bad-call
    SHOW(cudaMemcpyToSymbol("table", host, sizeof host));               // expect: bad-call
    SHOW(cudaMemcpyToSymbol(&table, host, sizeof host));                // expect: bad-call
    fill<<<1, 32>>>(table, output);                                     // expect: host-pointer
    fill<<<1, 16>>>(table + 16, output);                                // expect: host-pointer(warning)
    CHECK(cudaGetSymbolAddress((void **)&known, buffer));
    CHECK(cudaMemset(known, 0, sizeof host));
    fill<<<1, 32>>>(known, output);
    CHECK(cudaMemcpy(known, host, sizeof host, cudaMemcpyHostToDevice));
    use<<<1, 32>>>(output);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(output));
    return 0;
}
