// nvcc-refuses: needs -rdc. The bytes behind an int argument are no part of it: what an earlier call left there does
// not make it a pointer to local memory.
#include "../corpus.h"

__global__ void child(long *result, int low)
{
    *result = low != 0;
}

// Leaves pointers where the launch is about to put its arguments.
__device__ __noinline__ int low_half(const int *local)
{
    const int *volatile left_behind[64];
    for (int i = 0; i < 64; i++)
        left_behind[i] = local;
    return (int)(size_t)left_behind[threadIdx.x];
}

__global__ void parent(long *result)
{
    int local[4] = {(int)result[0]};
    child<<<1, 1>>>(result, low_half(local));
}

int main()
{
    long *result = device_zeros<long>(1), found = 0;
    parent<<<1, 1>>>(result);
    CHECK(cudaMemcpy(&found, result, sizeof found, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(result));
    return found != 1;
}
