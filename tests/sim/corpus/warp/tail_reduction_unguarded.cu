// The same without the comparison: what comes from a lane outside the mask in the first step travels down to lane 0.
#include "../corpus.h"

__global__ void sum(const int *input, int *output, int n)
{
    int lane = threadIdx.x;
    unsigned inside = __ballot_sync(0xffffffffu, lane < n);
    if (lane >= n)
        return;
    int value = input[lane];
    value += __shfl_down_sync(inside, value, 16); // expect: warp-mask
    value += __shfl_down_sync(inside, value, 8);
    value += __shfl_down_sync(inside, value, 4);
    value += __shfl_down_sync(inside, value, 2);
    value += __shfl_down_sync(inside, value, 1);
    if (lane == 0)
        *output = value;
}

__global__ void largest(const int *input, int *output, int n)
{
    int lane = threadIdx.x;
    unsigned inside = __ballot_sync(0xffffffffu, lane < n);
    if (lane >= n)
        return;
    int value = input[lane];
    for (int step = 16; step > 0; step /= 2)
        value = max(value, __shfl_down_sync(inside, value, step)); // expect: warp-mask
    if (lane == 0)
        *output = value;
}

int main()
{
    int *input = device_ramp(32, 0, 0), *output = device_zeros<int>(1);
    sum<<<1, 32>>>(input, output, 20);
    SHOW(cudaDeviceSynchronize());
    largest<<<1, 32>>>(input, output, 7);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(input));
    SHOW(cudaFree(output));
    return 0;
}
