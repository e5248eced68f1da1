// The number of blocks is n / 256 with n below 256: none.
#include "../corpus.h"

__global__ void fill(int *data, int n)
{
    if (threadIdx.x < n)
        data[threadIdx.x] = 1;
}

int main()
{
    int n = 100, *data = device_zeros<int>(n);
    fill<<<n / 256, 256>>>(data, n); // expect: bad-launch
    SHOW(cudaGetLastError());
    CHECK(cudaFree(data));
    return 0;
}
