// A float4 load whose last part lies past the end.
#include "../corpus.h"

__global__ void sum4(const float *data, float *output)
{
    float4 four = reinterpret_cast<const float4 *>(data)[threadIdx.x]; // expect: out-of-bounds
    output[threadIdx.x] = four.x + four.y + four.z + four.w;
}

int main()
{
    float *data = device_ramp(126, 0.0f, 1.0f), *output = device_zeros<float>(32);
    sum4<<<1, 32>>>(data, output);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(data));
    SHOW(cudaFree(output));
    return 0;
}
