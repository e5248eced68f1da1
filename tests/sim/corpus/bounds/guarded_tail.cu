// The same addition with a guard, at an odd size.
#include "../corpus.h"

__global__ void add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

int main()
{
    float *a = device_ramp(201, 0.0f, 1.0f), *b = device_ramp(201, 0.0f, 2.0f), *c = device_zeros<float>(201),
          result[201];
    add<<<(201 + 127) / 128, 128>>>(a, b, c, 201);
    CHECK(cudaGetLastError());
    fetch(result, c);
    for (int i = 0; i < 201; i++)
        REQUIRE(result[i] == 3.0f * i);
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    CHECK(cudaFree(c));
    return 0;
}
