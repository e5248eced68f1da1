// One lane waits for the block, the rest of its warp waits for it: nobody can go on.
#include "../corpus.h"

__global__ void stuck(int *data)
{
    int t = threadIdx.x;
    if (t == 0)
        __syncthreads(); // expect: deadlock a+
    else
        __syncwarp(); // expect: deadlock a+
    data[t] = t;
}

int main()
{
    int *data = device_zeros<int>(32);
    stuck<<<1, 32>>>(data);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(data));
    return 0;
}
