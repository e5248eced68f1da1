// The last warp of a reduction goes on without __syncwarp, trusting lanes to march in step.
#include "../corpus.h"

__global__ void sum(const int *input, int *output)
{
    __shared__ int part[64];
    int t = threadIdx.x;
    part[t] = input[t];
    __syncthreads();
    if (t < 32) {
        for (int half = 32; half > 0; half /= 2)
            part[t] += part[t + half]; // expect: race
    }
    if (t == 0)
        *output = part[0];
}

int main()
{
    int *input = device_ramp(64, 0, 1), *output = device_zeros<int>(1);
    sum<<<1, 64>>>(input, output);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(input));
    CHECK(cudaFree(output));
    return 0;
}
