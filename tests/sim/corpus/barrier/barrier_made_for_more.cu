// A cuda::barrier that was made for more threads than arrive: who waits for it waits for ever.
// cure: as init was given
#include "../corpus.h"
#include <cuda/barrier>

const int THREADS = 64;

__global__ void reverse(int *data)
{
    __shared__ int tile[THREADS];
    __shared__ cuda::barrier<cuda::thread_scope_block> all;
    if (threadIdx.x == 0)
        init(&all, THREADS + 1);
    __syncthreads();
    tile[threadIdx.x] = data[threadIdx.x];
    all.arrive_and_wait(); // expect: spin
    data[threadIdx.x] = tile[THREADS - 1 - threadIdx.x];
}

int main()
{
    int *data = device_zeros<int>(THREADS);
    reverse<<<1, THREADS>>>(data);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(data));
    return 0;
}
