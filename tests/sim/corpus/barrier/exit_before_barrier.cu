// Threads beyond the end return before the barrier: hardware forgives it, the language does not.
// cure: Replace
#include "../corpus.h"

__global__ void shift(const int *input, int *output, int n)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    if (t >= n)
        return;
    tile[t] = input[t];
    __syncthreads(); // expect: barrier-exited(warning)
    output[t] = tile[n - 1 - t];
}

int main()
{
    int *input = device_ramp(64, 0, 1), *output = device_zeros<int>(64);
    shift<<<1, 64>>>(input, output, 50);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(input));
    CHECK(cudaFree(output));
    return 0;
}
