// Every lane of every block reads the same words, in a program with __syncwarp: lists of readers, on several workers.
#include "../corpus.h"

__global__ void sum_all(const int *data, int *output)
{
    int sum = 0;
    for (int i = 0; i < 600; i++)
        sum += data[i * 7 % 64];
    __syncwarp();
    output[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

int main()
{
    static int result[64 * 64];
    int *data = device_zeros<int>(64), *output = device_zeros<int>(64 * 64);
    sum_all<<<64, 64>>>(data, output);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(result, output, sizeof result, cudaMemcpyDeviceToHost));
    REQUIRE(result[0] == 0);
    CHECK(cudaFree(data));
    CHECK(cudaFree(output));
    return 0;
}
