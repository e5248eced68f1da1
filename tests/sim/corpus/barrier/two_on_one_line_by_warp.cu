// Each warp waits at one of three barriers on one line, one of which counts.
#include "../corpus.h"

__global__ void swap(int *data)
{
    __shared__ int box[96];
    int t = threadIdx.x, counted = 0;
    box[t] = data[t];
    // clang-format off
    if (t < 32) __syncthreads(); else if (t < 64) __syncthreads(); else counted = __syncthreads_or(t); // expect: barrier-divergent(warning)
    // clang-format on
    data[t] = box[95 - t] + counted;
}

int main()
{
    int *data = device_ramp(96, 0, 1);
    swap<<<1, 96>>>(data);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(data));
    return 0;
}
