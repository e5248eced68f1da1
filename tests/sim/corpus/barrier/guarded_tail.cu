// Threads beyond the end skip the work but reach every barrier.
#include "../corpus.h"

__global__ void shift(const int *input, int *output, int n)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    if (t < n)
        tile[t] = input[t];
    __syncthreads();
    if (t < n)
        output[t] = tile[n - 1 - t];
}

int main()
{
    int *input = device_ramp(64, 0, 1), *output = device_zeros<int>(64), result[64];
    shift<<<1, 64>>>(input, output, 50);
    CHECK(cudaGetLastError());
    fetch(result, output);
    for (int i = 0; i < 64; i++)
        REQUIRE(result[i] == (i < 50 ? 49 - i : 0));
    CHECK(cudaFree(input));
    CHECK(cudaFree(output));
    return 0;
}
