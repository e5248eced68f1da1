// The last warp of a reduction with __syncwarp between reading and writing, and between steps.
#include "../corpus.h"

__global__ void sum(const int *input, int *output)
{
    __shared__ int part[64];
    int t = threadIdx.x;
    part[t] = input[t];
    __syncthreads();
    if (t < 32) {
        int value = part[t];
        for (int half = 32; half > 0; half /= 2) {
            value += part[t + half];
            __syncwarp();
            part[t] = value;
            __syncwarp();
        }
        if (t == 0)
            *output = value;
    }
}

int main()
{
    int *input = device_ramp(64, 0, 1), *output = device_zeros<int>(1), result[1];
    sum<<<1, 64>>>(input, output);
    CHECK(cudaGetLastError());
    fetch(result, output);
    REQUIRE(result[0] == 63 * 64 / 2);
    CHECK(cudaFree(input));
    CHECK(cudaFree(output));
    return 0;
}
