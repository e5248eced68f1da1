// Static variables of kernels and device functions, with and without the words for the memory they are in.
#include "../corpus.h"

#define INLINE static __device__ __forceinline__

__device__ int calls()
{
    static unsigned count = 0;
    return (int)atomicAdd(&count, 1u);
}

template <class T> __device__ T total(T value)
{
    static __device__ T sum;
    return atomicAdd(&sum, value);
}

INLINE float table(int i)
{
    static __constant__ float values[4] = {1, 2, 3, 4};
    static float scale[2] = {1, 2}, offset;
    return values[i & 3] * scale[0] + offset;
}

struct counter {
    __device__ int next()
    {
        static struct {
            int low, high;
        } seen;
        return atomicAdd(&seen.low, 1);
    }
};

static __device__ const float *const_pointer(int i)
{
    static const float values[2] = {5, 6};
    static const float *first = values;
    return first + (i & 1);
}

__global__ void use(int *out, float *values)
{
    static int ticket[2], *last;
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    atomicAdd(&ticket[i & 1], 1);
    auto within = [](int more) __device__ {
        static __device__ int inside;
        return atomicAdd(&inside, more);
    };
    if (i == 0)
        last = ticket;
    out[i] = calls() + total(1) + (int)total(1.0f) + counter().next() + within(1) >= 0;
    values[i] = table(i) + *const_pointer(i);
}

__global__ void look(int *out)
{
    out[threadIdx.x] = calls() - (int)threadIdx.x;
}

int main()
{
    const int n = 64;
    int *out = device_zeros<int>(n);
    float *values = device_zeros<float>(n);
    static int seen[n];
    use<<<2, 32>>>(out, values);
    CHECK(cudaMemcpy(seen, out, sizeof seen, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        REQUIRE(seen[i] == 1);
    float first[2];
    CHECK(cudaMemcpy(first, values, sizeof first, cudaMemcpyDeviceToHost));
    REQUIRE(first[0] == 6 && first[1] == 8);
    look<<<1, 1>>>(out);
    CHECK(cudaMemcpy(seen, out, sizeof(int), cudaMemcpyDeviceToHost));
    REQUIRE(seen[0] == n); // they outlive the kernel
    CHECK(cudaFree(out));
    CHECK(cudaFree(values));
    return 0;
}
