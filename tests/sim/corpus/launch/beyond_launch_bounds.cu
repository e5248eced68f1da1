// A launch with more threads than the kernel's __launch_bounds__ allow fails on a card; the kernel does not run.
#include "../corpus.h"

#define MOST (32 * 2)

__global__ void __launch_bounds__(MOST) one(int *data)
{
    data[threadIdx.x] = 1;
}

namespace inner
{
static __launch_bounds__(128, 2) __global__ void two(int *data)
{
    data[threadIdx.x] = 2;
}
} // namespace inner

int main()
{
    int *data = device_zeros<int>(256);
    one<<<1, 64>>>(data);
    one<<<1, 65>>>(data); // expect: bad-launch
    if (cudaGetLastError() != cudaErrorInvalidValue)
        return 1;
    inner::two<<<1, dim3(16, 16)>>>(data); // expect: bad-launch
    if (cudaGetLastError() == cudaSuccess)
        return 2;
    inner::two<<<1, 128>>>(data);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(data));
    return 0;
}
