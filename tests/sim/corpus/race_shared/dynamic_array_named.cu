// A barrier is missing, in a kernel whose array has its size from the launch: it is named as it is declared there, not
// as in the other kernel, though both mean one buffer.
// memory: second
#include "../corpus.h"

__global__ void right(float *data)
{
    extern __shared__ float first[];
    int t = threadIdx.x;
    first[t] = data[t];
    __syncthreads();
    data[t] = first[127 - t];
}

__device__ float mirrored(const float *tile, int t)
{
    return tile[127 - t]; // expect: race a
}

__global__ void wrong(float *data)
{
    extern __shared__ __align__(16) unsigned char second[];
    float *tile = (float *)second;
    int t = threadIdx.x;
    tile[t] = data[t]; // expect: race a
    data[t] = mirrored(tile, t);
}

int main()
{
    float *data = device_ramp(128, 0.0f, 1.0f);
    right<<<1, 128, 128 * sizeof(float)>>>(data);
    wrong<<<1, 128, 128 * sizeof(float)>>>(data);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(data));
    return 0;
}
