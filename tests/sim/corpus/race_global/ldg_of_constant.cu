// __ldg of what an earlier kernel wrote, beside plain and __ldcg loads of what this one writes.
#include "../corpus.h"

__global__ void fill(int *data)
{
    data[threadIdx.x] = threadIdx.x;
}

__global__ void add(const int *__restrict__ table, int *data)
{
    data[threadIdx.x] = __ldg(&table[63 - threadIdx.x]);
    __syncthreads();
    int other = data[63 - threadIdx.x] + __ldcg(&data[63 - threadIdx.x]);
    __syncthreads();
    data[threadIdx.x] = other + __ldg(table + threadIdx.x);
}

int main()
{
    int *table = device_zeros<int>(64), *data = device_zeros<int>(64);
    for (int round = 0; round < 3; round++) {
        fill<<<1, 64>>>(table);
        add<<<1, 64>>>(table, data);
        add<<<1, 64>>>(data, table);
    }
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(table));
    CHECK(cudaFree(data));
    return 0;
}
