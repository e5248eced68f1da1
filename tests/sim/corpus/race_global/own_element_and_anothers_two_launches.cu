// The same in two launches: what is read was updated before.
#include "../corpus.h"

__global__ void update(int *data)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i] += i;
}

__global__ void mirror(const int *data, int *output, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    output[i] = data[n - 1 - i];
}

int main()
{
    const int n = 4 * 256;
    int *data = device_zeros<int>(n), *output = device_zeros<int>(n);
    update<<<4, 256>>>(data);
    mirror<<<4, 256>>>(data, output, n);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(data));
    CHECK(cudaFree(output));
    return 0;
}
