// A grid-stride loop over more elements than threads.
#include "../corpus.h"

__global__ void saxpy(int n, float a, const float *x, float *y)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        y[i] = a * x[i] + y[i];
}

int main()
{
    const int n = 1000;
    float *x = device_ramp(n, 0.0f, 1.0f), *y = device_ramp(n, 1.0f, 0.0f), result[n];
    saxpy<<<2, 128>>>(n, 2.0f, x, y);
    CHECK(cudaGetLastError());
    fetch(result, y);
    for (int i = 0; i < n; i++)
        REQUIRE(result[i] == 2 * i + 1);
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
    return 0;
}
