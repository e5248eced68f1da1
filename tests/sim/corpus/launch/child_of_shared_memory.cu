// nvcc-refuses: needs -rdc. Pointers to a parent's shared and local memory mean nothing to a child. Only the thread
// that made such a launch gets its error, not another of the block or of a block that runs later.
#include "../corpus.h"

__global__ void child(int *data)
{
    data[threadIdx.x] = 1;
}

__global__ void parent(int *wrong)
{
    __shared__ int tile[32];
    if (cudaPeekAtLastError() != cudaSuccess)
        atomicAdd(wrong, 1);
    int local[4] = {0};
    tile[threadIdx.x] = local[threadIdx.x % 4];
    __syncthreads();
    if (threadIdx.x == 0) {
        child<<<1, 32>>>(tile); // expect: bad-launch
        child<<<1, 4>>>(local); // expect: bad-launch
    }
    __syncthreads();
    if (cudaPeekAtLastError() != (threadIdx.x == 0 ? cudaErrorInvalidValue : cudaSuccess))
        atomicAdd(wrong, 1);
}

int main()
{
    int *wrong = device_zeros<int>(1), found = 1;
    parent<<<16, 32>>>(wrong);
    CHECK(cudaMemcpy(&found, wrong, sizeof found, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(wrong));
    return found;
}
