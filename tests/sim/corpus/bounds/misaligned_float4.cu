// A float4 load from an address that is a multiple of 4 only.
#include "../corpus.h"

__global__ void sum4(const float *data, float *output)
{
    float4 four = *reinterpret_cast<const float4 *>(data + 1 + 4 * threadIdx.x); // expect: misaligned
    output[threadIdx.x] = four.x + four.w;
}

int main()
{
    float *data = device_ramp(256, 0.0f, 1.0f), *output = device_zeros<float>(32);
    sum4<<<1, 32>>>(data, output);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(data));
    SHOW(cudaFree(output));
    return 0;
}
