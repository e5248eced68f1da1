// A float2 read from an odd float of dynamic shared memory.
#include "../corpus.h"

__global__ void pairs(float *output)
{
    extern __shared__ float s[];
    int t = threadIdx.x;
    s[t] = (float)t;
    __syncthreads();
    if (t < 31) {
        float2 two = *reinterpret_cast<float2 *>(s + t); // expect: misaligned
        output[t] = two.x + two.y;
    }
}

int main()
{
    float *output = device_zeros<float>(32);
    pairs<<<1, 32, 32 * sizeof(float)>>>(output);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(output));
    return 0;
}
