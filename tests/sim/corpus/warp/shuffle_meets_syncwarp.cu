// Half of a warp shuffles with the full mask, the other half waits in a __syncwarp behind the branch.
#include "../corpus.h"

__global__ void mixed(int *data)
{
    int t = threadIdx.x, v = data[t];
    if (t < 16)
        v += __shfl_down_sync(0xffffffffu, v, 8, 16); // expect: warp-mismatch a
    __syncwarp(); // expect: warp-mismatch a; allow: warp-mask(warning)
    data[t] = v;
}

int main()
{
    int *data = device_zeros<int>(32);
    mixed<<<1, 32>>>(data);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(data));
    return 0;
}
