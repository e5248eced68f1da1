// Dynamic shared memory of exactly the size used, in two launches of different size.
#include "../corpus.h"

__global__ void reverse(int *data)
{
    extern __shared__ int scratch[];
    int n = blockDim.x, t = threadIdx.x;
    scratch[t] = data[t];
    __syncthreads();
    data[t] = scratch[n - 1 - t];
}

int main()
{
    int *data = device_ramp(96, 0, 1), result[96];
    reverse<<<1, 96, 96 * sizeof(int)>>>(data);
    reverse<<<1, 32, 32 * sizeof(int)>>>(data);
    CHECK(cudaGetLastError());
    fetch(result, data);
    for (int i = 0; i < 96; i++)
        REQUIRE(result[i] == (i < 32 ? 95 - (31 - i) : 95 - i));
    CHECK(cudaFree(data));
    return 0;
}
