// The host and a kernel hand a word to and fro; in the third round each of them waits for the other.
#include "../corpus.h"

enum { ROUNDS = 3 };

__global__ void play(volatile int *ball)
{
    for (int round = 0; round < ROUNDS; round++) {
        while (*ball != 2 * round + 1) // expect: spin
            continue;
        __threadfence_system();
        *ball = 2 * round + 2;
    }
}

int main()
{
    int *memory = NULL;
    SHOW(cudaHostAlloc((void **)&memory, sizeof(int), cudaHostAllocMapped));
    volatile int *ball = memory;
    *ball = 0;
    play<<<1, 1>>>(ball);
    for (int round = 0; round < ROUNDS; round++) {
        if (round < 2)
            *ball = 2 * round + 1;
        while (*ball != 2 * round + 2)
            continue;
    }
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFreeHost(memory));
    return 0;
}
