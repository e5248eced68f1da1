// Bounds of every form, and launches that keep to them: templates, numbers from elsewhere, a declaration before.
#include "../corpus.h"

template <int A, int B> struct sizes {
    static constexpr int product = A * B;
};
constexpr int warps(int n)
{
    return 32 * n;
}

__global__ void declared(int *data);
__global__ void __launch_bounds__(warps(2), 1) declared(int *data)
{
    data[threadIdx.x] += 1;
}
__global__ void __launch_bounds__(sizes<32, 2>::product) from_a_template(int *data)
{
    data[threadIdx.x] += 1;
}
template <int N> __global__ void __launch_bounds__(N) of_a_template(int *data)
{
    data[threadIdx.x] += 1;
}
__global__ void __launch_bounds__(64) overloaded(int *data)
{
    data[threadIdx.x] += 1;
}
__global__ void __launch_bounds__(32) overloaded(int *data, int by)
{
    data[threadIdx.x] += by;
}

int main()
{
    int *data = device_zeros<int>(64);
    declared<<<1, 64>>>(data);
    from_a_template<<<1, 64>>>(data);
    of_a_template<64><<<1, 64>>>(data);
    overloaded<<<1, 64>>>(data);
    overloaded<<<1, 32>>>(data, 2);
    cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, declared));
    if (attributes.maxThreadsPerBlock != 64)
        return 1;
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(data));
    return 0;
}
