// A function ends threads of its caller by PTX before a barrier in a branch: nobody passes the barrier by.
#include "../corpus.h"

__device__ void leave()
{
    asm volatile("exit;");
}

__global__ void wait(int *out, int n)
{
    if (threadIdx.x >= n)
        leave();
    if (n > 3) {
        __syncthreads(); // expect: barrier-exited(warning)
    }
    out[threadIdx.x] = 1;
}

int main()
{
    int *out = device_zeros<int>(64);
    wait<<<1, 64>>>(out, 40);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(out));
    return 0;
}
