// constexpr, auto, static_assert, enum class, structured loops and references in device code.
#include "../corpus.h"

enum class mode { add, multiply };

__host__ __device__ constexpr int cube(int x)
{
    return x * x * x;
}

template <mode M> __device__ int combine(int a, int b)
{
    if constexpr (M == mode::add)
        return a + b;
    else
        return a * b;
}

__global__ void work(int *output)
{
    constexpr int size = cube(2);
    static_assert(size == 8, "eight");
    int values[size] = {1, 2, 3, 4, 5, 6, 7, 8};
    int sum = 0;
    for (auto &v : values)
        sum += v;
    output[threadIdx.x] = combine<mode::add>(sum, (int)threadIdx.x) + combine<mode::multiply>(2, 3);
}

int main()
{
    int *output = device_zeros<int>(32), result[32];
    work<<<1, 32>>>(output);
    CHECK(cudaGetLastError());
    fetch(result, output);
    for (int i = 0; i < 32; i++)
        REQUIRE(result[i] == 36 + i + 6);
    CHECK(cudaFree(output));
    return 0;
}
