// Persistent threads whose shared item is overwritten before every thread has read it.
#include "../corpus.h"

__global__ void worker(unsigned *head, unsigned items, int *done)
{
    __shared__ unsigned item;
    for (;;) {
        if (threadIdx.x == 0)
            item = atomicAdd(head, 1u); // expect: race a+
        __syncthreads();                // allow: barrier-exited(warning)
        if (item >= items)              // expect: race a+
            break;
        done[item * 64 + threadIdx.x] = 1; // expect: race a+
    }
}

int main()
{
    unsigned *head = device_zeros<unsigned>(1);
    int *done = device_zeros<int>(4 * 64);
    worker<<<1, 64>>>(head, 4, done);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(head));
    CHECK(cudaFree(done));
    return 0;
}
