// Lambdas inside a kernel, and a functor passed to a kernel.
#include "../corpus.h"

struct affine {
    int a, b;
    __device__ int operator()(int x) const
    {
        return a * x + b;
    }
};

template <typename F> __global__ void apply(int *data, F f)
{
    auto twice = [&](int x) { return f(f(x)); };
    data[threadIdx.x] = twice(data[threadIdx.x]);
}

int main()
{
    int *data = device_ramp(32, 0, 1), result[32];
    apply<<<1, 32>>>(data, affine{2, 3});
    CHECK(cudaGetLastError());
    fetch(result, data);
    for (int i = 0; i < 32; i++)
        REQUIRE(result[i] == 4 * i + 9);
    CHECK(cudaFree(data));
    return 0;
}
