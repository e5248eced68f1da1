// Device code that nvcc accepts and g++ does not: a member template called without the word `template`, a member with
// the name of its own type, __forceinline__ on functions that call each other.
#include "../corpus.h"

template <typename T> struct shifted {
    template <int by> static __device__ T up(T x)
    {
        return x + by;
    }
    template <int by> __device__ T down(T x) const
    {
        return x - by;
    }
    int up_to;
};

#define DEVICE inline __attribute__((always_inline)) __attribute__((unused)) __device__

template <typename T, int by> DEVICE T there_and_back(const shifted<T> *pointer, T x)
{
    shifted<T> object = *pointer;
    bool ordered = object.up_to < by && by > (0); // not a call
    return object.down<by>(shifted<T>::up<by>(x)) + pointer->down<by>(by) + (ordered ? 100 : 0);
}

template <typename T> struct range {
    T first, last;
};

struct limits {
    using range = range<int>;
    range inside;
    struct shifted<int> shifted;
};

__device__ int odd_steps(int n);

__device__ __forceinline__ int even_steps(int n)
{
    return n == 0 ? 0 : 1 + odd_steps(n - 1);
}

__device__ __forceinline__ int odd_steps(int n)
{
    return n == 0 ? 0 : 1 + even_steps(n - 1);
}

__global__ void kernel(int *out, limits given)
{
    out[threadIdx.x] = even_steps(threadIdx.x) + there_and_back<int, 3>(&given.shifted, given.inside.first);
}

int main()
{
    const int n = 8;
    int *out = device_zeros<int>(n), results[n];
    kernel<<<1, n>>>(out, limits{{5, 9}, {7}});
    fetch(results, out);
    for (int i = 0; i < n; i++)
        REQUIRE(results[i] == i + 5);
    CHECK(cudaFree(out));
    return 0;
}
