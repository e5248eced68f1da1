// Two kernels of one name, told apart by their arguments.
#include "../corpus.h"

__global__ void fill(int *data, int value)
{
    data[threadIdx.x] = value;
}

__global__ void fill(float *data, float value)
{
    data[threadIdx.x] = value;
}

int main()
{
    int *a = device_zeros<int>(32), x[32];
    float *b = device_zeros<float>(32), y[32];
    fill<<<1, 32>>>(a, 7);
    fill<<<1, 32>>>(b, 1.5f);
    CHECK(cudaGetLastError());
    fetch(x, a);
    fetch(y, b);
    REQUIRE(x[31] == 7 && y[31] == 1.5f);
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    return 0;
}
