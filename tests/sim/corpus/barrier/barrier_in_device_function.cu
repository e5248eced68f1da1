// Barriers inside a device function that every thread calls, from two places.
#include "../corpus.h"

__device__ __noinline__ int exchange(int *box, int value)
{
    box[threadIdx.x] = value;
    __syncthreads();
    int other = box[threadIdx.x ^ 32];
    __syncthreads();
    return other;
}

__global__ void twice(int *data)
{
    __shared__ int box[64];
    int value = exchange(box, data[threadIdx.x]);
    data[threadIdx.x] = value * 2 + exchange(box, value);
}

int main()
{
    int *data = device_ramp(64, 0, 1), result[64];
    twice<<<1, 64>>>(data);
    CHECK(cudaGetLastError());
    fetch(result, data);
    for (int i = 0; i < 64; i++)
        REQUIRE(result[i] == (i ^ 32) * 2 + i);
    CHECK(cudaFree(data));
    return 0;
}
