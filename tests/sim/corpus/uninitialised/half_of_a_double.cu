// Numbers of eight bytes of which one half was written. A float2 or a structure with padding is copied all the same.
#include "../corpus.h"

struct __align__(8) padded
{
    int first;
    char second;
};

__global__ void write_halves(int *numbers, int *pairs, padded *items)
{
    numbers[2 * threadIdx.x] = 1;
    pairs[2 * threadIdx.x] = 1;
    items[threadIdx.x].first = 1;
    items[threadIdx.x].second = 2;
}

__global__ void copy(const float2 *pairs, float2 *to, const padded *items, padded *others)
{
    to[threadIdx.x] = pairs[threadIdx.x];
    others[threadIdx.x] = items[threadIdx.x];
}

template <typename T> __global__ void copy_any(const T *from, T *to)
{
    to[threadIdx.x] = from[threadIdx.x];
}

__global__ void scale(const double *__restrict__ numbers, double *output)
{
    double factor = 2 * numbers[threadIdx.x]; // expect: uninitialised
    output[threadIdx.x] = factor;
}

__global__ void count(const unsigned long long *numbers, unsigned long long *output)
{
    __shared__ long long sums[32];
    ((int *)sums)[2 * threadIdx.x + 1] = 0;
    output[threadIdx.x] += numbers[threadIdx.x]; // expect: uninitialised
    output[threadIdx.x] += sums[threadIdx.x];    // expect: uninitialised
}

int main()
{
    double *output = device_zeros<double>(32);
    int *numbers, *others;
    float2 *pairs, *copies;
    padded *items, *same;
    CHECK(cudaMalloc(&numbers, 32 * sizeof(double)));
    CHECK(cudaMalloc(&others, 32 * sizeof(double)));
    CHECK(cudaMalloc(&pairs, 32 * sizeof *pairs));
    CHECK(cudaMalloc(&copies, 32 * sizeof *copies));
    CHECK(cudaMalloc(&items, 32 * sizeof *items));
    CHECK(cudaMalloc(&same, 32 * sizeof *same));
    write_halves<<<1, 32>>>(numbers, (int *)pairs, items);
    write_halves<<<1, 32>>>(others, (int *)pairs, items);
    copy<<<1, 32>>>(pairs, copies, items, same);
    copy_any<<<1, 32>>>(pairs, copies);
    scale<<<1, 32>>>((const double *)numbers, output);
    count<<<1, 32>>>((const unsigned long long *)others, (unsigned long long *)output);
    SHOW(cudaDeviceSynchronize());
    for (void *memory :
         {(void *)numbers, (void *)others, (void *)pairs, (void *)copies, (void *)items, (void *)same, (void *)output})
        CHECK(cudaFree(memory));
    return 0;
}
