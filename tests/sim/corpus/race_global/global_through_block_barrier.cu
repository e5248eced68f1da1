// __syncthreads orders global memory too, within the block.
#include "../corpus.h"

__global__ void rotate(int *data, int *output)
{
    int first = blockIdx.x * blockDim.x, t = threadIdx.x;
    data[first + t] = first + t;
    __syncthreads();
    output[first + t] = data[first + (t + 1) % blockDim.x];
}

int main()
{
    int *data = device_zeros<int>(128), *output = device_zeros<int>(128), result[128];
    rotate<<<2, 64>>>(data, output);
    CHECK(cudaGetLastError());
    fetch(result, output);
    for (int i = 0; i < 128; i++)
        REQUIRE(result[i] == i / 64 * 64 + (i + 1) % 64);
    CHECK(cudaFree(data));
    CHECK(cudaFree(output));
    return 0;
}
