// The default stream waits for the others and they for it: no event is needed.
#include "../corpus.h"

__global__ void add(int *data, int value)
{
    data[threadIdx.x] += value;
}

int main()
{
    cudaStream_t a, b;
    int *data = device_zeros<int>(64), result[64];
    CHECK(cudaStreamCreate(&a));
    CHECK(cudaStreamCreate(&b));
    add<<<1, 64, 0, a>>>(data, 1);
    add<<<1, 64>>>(data, 10);
    add<<<1, 64, 0, b>>>(data, 100);
    fetch(result, data);
    for (int i = 0; i < 64; i++)
        REQUIRE(result[i] == 111);
    CHECK(cudaStreamDestroy(a));
    CHECK(cudaStreamDestroy(b));
    CHECK(cudaFree(data));
    return 0;
}
