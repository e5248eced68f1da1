// Variables cast to other types in every form, at offsets that suit them; structures need no more than their members.
#include "../corpus.h"

#include <stdint.h>

struct pixel {
    unsigned char red, green, blue, alpha;
};
struct __attribute__((packed)) record {
    char tag;
    int value;
};
namespace shapes
{
template <class T> struct pair {
    T first, second;
};
} // namespace shapes

__device__ __align__(16) float numbers[64];
__device__ unsigned char image[64];
__device__ record records[4];
__constant__ int table[4] = {1, 2, 3, 4};
__device__ float *start;

template <typename T> __device__ T first_of(const void *from)
{
    __shared__ T kept[32];
    kept[threadIdx.x] = *(const T *)from;
    T *own = (T *)kept + threadIdx.x;
    return *own;
}

__device__ int sum(int *, int *);
__device__ int sum(int *a, int *b)
{
    return *a + *b;
}

__global__ void all_forms(float *output)
{
    __shared__ __align__(16) float tile[64];
    __shared__ char bytes[64];
    tile[threadIdx.x] = tile[threadIdx.x + 32] = 1.0f;
    bytes[threadIdx.x] = bytes[threadIdx.x + 32] = 1;
    __syncthreads();
    float4 four = reinterpret_cast<const float4 *__restrict__>(tile)[threadIdx.x % 4];
    float4 same = *(float4 *)&tile[4];
    float2 two = ((const float2 *)(tile + 2))[1];
    shapes::pair<float> loose = *(shapes::pair<float> *)(tile + 1);
    pixel colour = *(pixel *)(bytes + 1);
    colour.red += ((pixel *)image)[1].red + (*(pixel *)&image[3]).blue;
    record copy = records[1];
    copy.value += ((record *)((char *)records + sizeof(record)))->value;
    uintptr_t at = reinterpret_cast<uintptr_t>(tile) + (uintptr_t)(void *)numbers;
    float *other = (at & 1) ? (float *)numbers : (float *)(char *)tile;
    int known = *(volatile int *)numbers + (int)sizeof(*(float4 *)tile) + sum((int *)numbers, (int *)&numbers[1]);
    unsigned bits = reinterpret_cast<unsigned &>(numbers[1]);
    float total = first_of<float>(table) + first_of<int>((const void *)table) + other[threadIdx.x];
    if (threadIdx.x == 0)
        start = (float *)numbers;
    output[threadIdx.x] =
        four.x + same.y + two.x + loose.second + colour.red + (float)copy.value + (float)known + (float)bits + total;
}

int main()
{
    float *output = device_zeros<float>(32);
    all_forms<<<1, 32>>>(output);
    CHECK(cudaDeviceSynchronize());
    float host[32];
    CHECK(cudaMemcpy(host, output, sizeof host, cudaMemcpyDeviceToHost));
    REQUIRE(host[0] == 23);
    CHECK(cudaFree(output));
    return 0;
}
