// Variables read and written as a wider type, at offsets that the compiler sees.
#include "../corpus.h"

__device__ int words[4];
__device__ float result[32];
__device__ __align__(16) float numbers[64];

__global__ void odd_byte()
{
    *(int *)((char *)words + 1) = 42; // expect: misaligned
}

__global__ void second_float()
{
    float2 pair = ((float2 *)(numbers + 1))[threadIdx.x % 8]; // expect: misaligned
    result[threadIdx.x] = pair.x;
}

__global__ void shared_vector()
{
    __shared__ __align__(16) float tile[64];
    tile[threadIdx.x] = tile[threadIdx.x + 32] = 1.0f;
    __syncthreads();
    float4 four = *reinterpret_cast<float4 *>(&tile[1]); // expect: misaligned
    result[threadIdx.x] = four.x + four.w;
}

__global__ void through_a_pointer()
{
    __shared__ char record[64];
    record[threadIdx.x] = record[threadIdx.x + 32] = 0;
    __syncthreads();
    const char *behind_the_tag = record + 1;
    result[threadIdx.x] = *(const float *)behind_the_tag; // expect: misaligned
}

__global__ void by_reference()
{
    result[threadIdx.x] = (float)reinterpret_cast<double &>(numbers[3]); // expect: misaligned
}

// The card is as new after an error that no launch survives.
static void end()
{
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaDeviceReset());
}

int main()
{
    odd_byte<<<1, 1>>>();
    end();
    second_float<<<1, 32>>>();
    end();
    shared_vector<<<1, 32>>>();
    end();
    through_a_pointer<<<1, 32>>>();
    end();
    by_reference<<<1, 32>>>();
    end();
    return 0;
}
