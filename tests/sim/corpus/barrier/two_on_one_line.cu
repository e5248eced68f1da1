// Even and odd lanes wait at two barriers that stand on one line.
// cure: Move
#include "../corpus.h"

__global__ void swap(int *data)
{
    __shared__ int box[64];
    int t = threadIdx.x;
    box[t] = data[t];
    // clang-format off
    if (t % 2) __syncthreads(); else __syncthreads(); // expect: barrier-divergent
    // clang-format on
    data[t] = box[63 - t];
}

int main()
{
    int *data = device_ramp(64, 0, 1);
    swap<<<1, 64>>>(data);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(data));
    return 0;
}
