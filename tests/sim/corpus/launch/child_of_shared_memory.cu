// nvcc-refuses: needs -rdc. Pointers to a parent's shared and local memory mean nothing to a child. Only the thread
// that made such a launch gets its error, not another of the block or of a block that runs later.
#include "../corpus.h"
#include <cassert>

__global__ void child(int *data)
{
    data[threadIdx.x] = 1;
}

__global__ void parent()
{
    __shared__ int tile[32];
    assert(cudaPeekAtLastError() == cudaSuccess);
    int local[4] = {0};
    tile[threadIdx.x] = local[threadIdx.x % 4];
    __syncthreads();
    if (threadIdx.x == 0) {
        child<<<1, 32>>>(tile); // expect: bad-launch
        child<<<1, 4>>>(local); // expect: bad-launch
    }
    __syncthreads();
    assert(cudaPeekAtLastError() == (threadIdx.x == 0 ? cudaErrorInvalidValue : cudaSuccess));
}

int main()
{
    parent<<<16, 32>>>();
    SHOW(cudaDeviceSynchronize());
    return 0;
}
