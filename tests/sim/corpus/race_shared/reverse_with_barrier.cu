// The same reversal with the barrier is right.
#include "../corpus.h"

__global__ void reverse(float *data)
{
    __shared__ float tile[128];
    int t = threadIdx.x;
    tile[t] = data[t];
    __syncthreads();
    data[t] = tile[127 - t];
}

int main()
{
    float *data = device_ramp(128, 0.0f, 1.0f), result[128];
    reverse<<<1, 128>>>(data);
    CHECK(cudaGetLastError());
    fetch(result, data);
    for (int i = 0; i < 128; i++)
        REQUIRE(result[i] == 127 - i);
    CHECK(cudaFree(data));
    return 0;
}
