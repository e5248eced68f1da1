// A row of shared memory that is not a whole number of float4: every second row's are misaligned.
#include "../corpus.h"

__global__ void rows(float *output)
{
    __shared__ float tile[32][6];
    for (int column = 0; column < 6; column++)
        tile[threadIdx.x][column] = (float)column;
    float4 first = *reinterpret_cast<float4 *>(&tile[threadIdx.x][0]); // expect: misaligned
    output[threadIdx.x] = first.x + first.w;
}

int main()
{
    float *output = device_zeros<float>(32);
    rows<<<1, 32>>>(output);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(output));
    return 0;
}
