// The right forms of reading what others write: a barrier after writing and one after reading, round after round, and
// a launch between for other blocks.
#include "../corpus.h"

__global__ void rounds(const int *input, int *output, int *data)
{
    __shared__ int tile[256];
    int t = threadIdx.x, total = 0;
    for (int round = 0; round < 4; round++) {
        tile[(t + round) % 256] = input[t];
        __syncthreads();
        total += tile[255 - t];
        __syncthreads();
    }
    data[blockIdx.x * 256 + t] = total;
    output[blockIdx.x * 256 + t] = tile[t];
}

__global__ void reverse(const int *data, int *output, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    output[i] += data[n - 1 - i];
}

int main()
{
    const int n = 4 * 256;
    int *input = device_ramp(256, 0, 1), *output = NULL, *data = NULL;
    CHECK(cudaMalloc(&data, n * sizeof(int)));
    CHECK(cudaMalloc(&output, n * sizeof(int)));
    rounds<<<4, 256>>>(input, output, data);
    reverse<<<4, 256>>>(data, output, n);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(input));
    CHECK(cudaFree(data));
    CHECK(cudaFree(output));
    return 0;
}
