// Work stealing: the owner looks whether its last item is still there, meets its block, and takes it by a plain store;
// a thief that comes in between takes the same one.
// schedule: 1
#include "../corpus.h"

enum { OWNERS = 3 };

__device__ int left[OWNERS] = {1, 1, 1};

__global__ void work(int *done)
{
    __shared__ int victim;
    int own = blockIdx.x % OWNERS;
    if (threadIdx.x == 0)
        victim = atomicAdd(&left[own], 0) ? own : -1;
    __syncthreads();
    if (threadIdx.x == 0 && victim >= 0) {
        atomicSub(&left[victim], 1);
        done[victim] += 1; // expect: race
    }
}

int main()
{
    int *done = device_zeros<int>(OWNERS);
    work<<<2 * OWNERS, 32>>>(done);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(done));
    return 0;
}
