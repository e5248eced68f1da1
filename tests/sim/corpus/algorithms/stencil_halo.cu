// A stencil of radius 3 with halo in shared memory.
#include "../corpus.h"

enum { RADIUS = 3, BLOCK = 64 };

__global__ void stencil(const int *input, int *output, int n)
{
    __shared__ int tile[BLOCK + 2 * RADIUS];
    int global = blockIdx.x * BLOCK + threadIdx.x, local = threadIdx.x + RADIUS;
    tile[local] = global < n ? input[global] : 0;
    if (threadIdx.x < RADIUS) {
        tile[local - RADIUS] = global >= RADIUS ? input[global - RADIUS] : 0;
        tile[local + BLOCK] = global + BLOCK < n ? input[global + BLOCK] : 0;
    }
    __syncthreads();
    int sum = 0;
    for (int k = -RADIUS; k <= RADIUS; k++)
        sum += tile[local + k];
    if (global < n)
        output[global] = sum;
}

int main()
{
    const int n = 150;
    int *input = device_ramp(n, 1, 0), *output = device_zeros<int>(n), result[n];
    stencil<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(input, output, n);
    CHECK(cudaGetLastError());
    fetch(result, output);
    for (int i = 0; i < n; i++) {
        int left = i < RADIUS ? i : RADIUS, right = n - 1 - i < RADIUS ? n - 1 - i : RADIUS;
        REQUIRE(result[i] == 1 + left + right);
    }
    CHECK(cudaFree(input));
    CHECK(cudaFree(output));
    return 0;
}
