// Each thread updates an element of its own and reads one that another block updates: the update itself is no race,
// though the thread that makes it has read the element, too.
#include "../corpus.h"

__global__ void mirror(int *data, int *output, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i] += i;                // expect: race a
    output[i] = data[n - 1 - i]; // expect: race a
}

int main()
{
    const int n = 4 * 256;
    int *data = device_zeros<int>(n), *output = device_zeros<int>(n);
    mirror<<<4, 256>>>(data, output, n);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(data));
    CHECK(cudaFree(output));
    return 0;
}
