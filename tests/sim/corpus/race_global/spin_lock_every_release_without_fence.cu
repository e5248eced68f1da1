// A lock between blocks given up in every way there is, with no fence before it or with one of block scope: the
// critical section is not ordered before the next.
#include "../corpus.h"

#include <cuda/atomic>

enum { WAYS = 9 };
__device__ int lock;

__global__ void add(int way, int *sum)
{
    if (threadIdx.x != 0)
        return;
    while (atomicCAS(&lock, 0, 1) != 0)
        ;
    __threadfence();
    if (way == 0) {
        *sum += 1; // expect: race
        *(volatile int *)&lock = 0;
    } else if (way == 1) {
        *sum += 1; // expect: race
        atomicExch(&lock, 0);
    } else if (way == 2) {
        *sum += 1; // expect: race
        atomicSub(&lock, 1);
    } else if (way == 3) {
        *sum += 1; // expect: race
        atomicCAS(&lock, 1, 0);
    } else if (way == 4) {
        *sum += 1; // expect: race
        __threadfence_block();
        atomicAdd(&lock, -1);
    } else if (way == 5) {
        *sum += 1; // expect: race
        cuda::atomic_ref<int, cuda::thread_scope_device>(lock).store(0, cuda::memory_order_relaxed);
    } else if (way == 6) {
        *sum += 1; // expect: race
        __threadfence_block();
        *(volatile int *)&lock = 0;
    } else if (way == 7) {
        *(volatile int *)sum += 1; // expect: race
        __threadfence_block();
        atomicAnd(&lock, 0);
    } else {
        *(volatile int *)sum += 1; // expect: race
        atomicExch(&lock, 0);
    }
}

int main()
{
    int *sum = device_zeros<int>(WAYS), result[WAYS];
    for (int way = 0; way < WAYS; way++)
        add<<<4, 32>>>(way, sum + way);
    SHOW(cudaGetLastError());
    fetch(result, sum);
    CHECK(cudaFree(sum));
    return 0;
}
