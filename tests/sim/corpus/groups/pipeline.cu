// Asynchronous copies into shared memory in two stages with the pipeline primitives.
#include "../corpus.h"
#include <cuda_pipeline.h>

__global__ void sum(const int *input, int *output, int tiles)
{
    __shared__ int tile[2][64];
    int t = threadIdx.x, total = 0;
    __pipeline_memcpy_async(&tile[0][t], &input[t], sizeof(int));
    __pipeline_commit();
    for (int i = 0; i < tiles; i++) {
        if (i + 1 < tiles)
            __pipeline_memcpy_async(&tile[(i + 1) % 2][t], &input[(i + 1) * 64 + t], sizeof(int));
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        total += tile[i % 2][63 - t];
        __syncthreads();
    }
    output[t] = total;
}

int main()
{
    int *input = device_ramp(256, 0, 1), *output = device_zeros<int>(64), result[64];
    sum<<<1, 64>>>(input, output, 4);
    CHECK(cudaGetLastError());
    fetch(result, output);
    for (int t = 0; t < 64; t++)
        REQUIRE(result[t] == 4 * (63 - t) + 64 * 6);
    CHECK(cudaFree(input));
    CHECK(cudaFree(output));
    return 0;
}
