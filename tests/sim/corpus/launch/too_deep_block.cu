// A block 128 deep in z: the limit is 64.
#include "../corpus.h"

__global__ void fill(int *data)
{
    data[threadIdx.z] = 1;
}

int main()
{
    int *data = device_zeros<int>(128);
    fill<<<1, dim3(1, 1, 128)>>>(data); // expect: bad-launch
    SHOW(cudaGetLastError());
    CHECK(cudaFree(data));
    return 0;
}
