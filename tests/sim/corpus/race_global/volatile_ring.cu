// One block makes, another takes, through a ring that never fills: what each of them waits for is there at the first
// look, item after item. Right, though the accesses to head race formally.
#include "../corpus.h"

enum { SLOTS = 64, ITEMS = 32 };

__global__ void pass_on(volatile int *ring, volatile int *head, volatile int *tail, int *output)
{
    for (int i = 0; i < ITEMS && blockIdx.x == 0; i++) {
        while (i - *tail >= SLOTS)
            ;
        ring[i % SLOTS] = i;
        __threadfence();
        *head = i + 1; // expect: race(warning) a
    }
    for (int i = 0; i < ITEMS && blockIdx.x == 1; i++) {
        while (*head <= i) // expect: race(warning) a
            ;
        __threadfence();
        output[i] = ring[i % SLOTS];
        __threadfence();
        *tail = i + 1;
    }
}

int main()
{
    int *ring = device_zeros<int>(SLOTS), *head = device_zeros<int>(1), *tail = device_zeros<int>(1);
    int *output = device_zeros<int>(ITEMS), result[ITEMS];
    pass_on<<<2, 1>>>(ring, head, tail, output);
    SHOW(cudaGetLastError());
    fetch(result, output);
    REQUIRE(result[ITEMS - 1] == ITEMS - 1);
    CHECK(cudaFree(ring));
    CHECK(cudaFree(head));
    CHECK(cudaFree(tail));
    CHECK(cudaFree(output));
    return 0;
}
