// Variables of the card whose constructor is given what functions return are variables, not declarations of functions.
#include "../corpus.h"

struct Pair {
    int first, second;
    Pair() = default;
    __host__ __device__ constexpr Pair(int one, int other) : first(one), second(other)
    {
    }
};

constexpr __host__ __device__ int twice(int x)
{
    return 2 * x;
}

template <int Factor> constexpr __host__ __device__ int times(int x)
{
    return Factor * x;
}

__device__ Pair called(twice(3), 4);
__device__ Pair of_template(times<5>(2), 4);
__constant__ Pair copied(Pair{7, 8});
__device__ Pair converted(int(9.5), 1);

__global__ void read(int *to)
{
    to[threadIdx.x] = called.first + of_template.first + copied.first + converted.first;
    if (threadIdx.x == 0)
        called.second = 5;
}

int main()
{
    int *to = device_zeros<int>(32), host[32];
    read<<<1, 32>>>(to);
    CHECK(cudaMemcpy(host, to, sizeof host, cudaMemcpyDeviceToHost));
    printf("%d\n", host[0]);
    CHECK(cudaFree(to));
    return host[0] == 6 + 10 + 7 + 9 ? 0 : 1;
}
