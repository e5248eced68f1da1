// Sum of a block: shuffles within a warp, shared memory between warps.
#include "../corpus.h"

__device__ int warp_sum(int value)
{
    for (int offset = 16; offset > 0; offset /= 2)
        value += __shfl_down_sync(0xffffffffu, value, offset);
    return value;
}

__global__ void sum(const int *input, int *output)
{
    __shared__ int part[32];
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    int value = warp_sum(input[blockIdx.x * blockDim.x + t]);
    if (lane == 0)
        part[warp] = value;
    __syncthreads();
    if (warp == 0) {
        value = lane < blockDim.x / 32 ? part[lane] : 0;
        value = warp_sum(value);
        if (lane == 0)
            output[blockIdx.x] = value;
    }
}

int main()
{
    int *input = device_ramp(256, 0, 1), *output = device_zeros<int>(2), result[2];
    sum<<<2, 128>>>(input, output);
    CHECK(cudaGetLastError());
    fetch(result, output);
    REQUIRE(result[0] == 127 * 128 / 2 && result[1] == 255 * 256 / 2 - 127 * 128 / 2);
    CHECK(cudaFree(input));
    CHECK(cudaFree(output));
    return 0;
}
