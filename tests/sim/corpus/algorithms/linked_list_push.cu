// A lock-free stack: nodes are pushed with CAS on the head; the head is first read atomically.
#include "../corpus.h"

__global__ void push(int *next, int *head)
{
    int node = blockIdx.x * blockDim.x + threadIdx.x, old = atomicAdd(head, 0), seen;
    do {
        seen = old;
        next[node] = seen;
        __threadfence();
        old = atomicCAS(head, seen, node);
    } while (old != seen);
}

__global__ void walk(const int *next, const int *head, int *length)
{
    int n = 0;
    for (int node = *head; node >= 0; node = next[node])
        n++;
    *length = n;
}

int main()
{
    int *next = device_zeros<int>(64), *head = device_ramp(1, -1, 0), *length = device_zeros<int>(1), result[1];
    push<<<2, 32>>>(next, head);
    walk<<<1, 1>>>(next, head, length);
    CHECK(cudaGetLastError());
    fetch(result, length);
    REQUIRE(result[0] == 64);
    CHECK(cudaFree(next));
    CHECK(cudaFree(head));
    CHECK(cudaFree(length));
    return 0;
}
