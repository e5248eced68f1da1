// cudaMemcpy with the count of elements instead of bytes.
#include "../corpus.h"

__global__ void twice(const float *input, float *output)
{
    output[threadIdx.x] = 2 * input[threadIdx.x]; // expect: uninitialised
}

int main()
{
    float host[32] = {0}, *input = NULL, *output = device_zeros<float>(32);
    CHECK(cudaMalloc(&input, sizeof host));
    CHECK(cudaMemcpy(input, host, 32, cudaMemcpyHostToDevice));
    twice<<<1, 32>>>(input, output);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(input));
    SHOW(cudaFree(output));
    return 0;
}
