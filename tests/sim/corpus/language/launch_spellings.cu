// Launches with default arguments, spaces in the brackets, NULL, expressions, a macro, and namespaces.
#include "../corpus.h"

__global__ void fill(int *data, int value = 4, const int *extra = NULL)
{
    data[threadIdx.x] += extra ? *extra : value;
}

template <typename T> __global__ void set(T *data, const T *source, double factor)
{
    data[threadIdx.x] += (T)(source ? 0 : factor);
}

namespace inner
{
__global__ void one(int *data)
{
    data[threadIdx.x] += 100;
}
} // namespace inner

#define LAUNCH(kernel, ...) kernel<<<1, 32>>>(__VA_ARGS__)

int main()
{
    int *data = device_zeros<int>(32), result[32], n = 32;
    cudaStream_t stream = 0;
    fill<<<1, 32>>>(data);
    // clang-format off
    fill<< <dim3(1, 1, 1), n >> >(data, 2, NULL);
    fill<<<(n + 31) / 32, n > 16 ? 32 : 16, 0, stream>>>(data, 0);
    // clang-format on
    set<int><<<1, 32, n * sizeof(float)>>>(data, NULL, 10);
    inner::one<<<1, 32>>>(data);
    LAUNCH(fill, data, 1000);
    if (n == 32)
        fill<<<1, 32>>>(data, 10000);
    else
        fill<<<1, 32>>>(data, 20000);
    CHECK(cudaGetLastError());
    fetch(result, data);
    for (int i = 0; i < 32; i++)
        REQUIRE(result[i] == 4 + 2 + 10 + 100 + 1000 + 10000);
    CHECK(cudaFree(data));
    return 0;
}
