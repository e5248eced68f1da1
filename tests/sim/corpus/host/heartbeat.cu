// A kernel counts its rounds in memory that the host watches, until the host tells it to stop; a block does so for
// another block. Who stores in every round is waiting all the same.
#include "../corpus.h"

__global__ void beat(volatile int *rounds, const volatile int *stop, int *ended)
{
    int round = 0;
    while (!*stop) {
        *rounds = ++round;
        __threadfence_system();
    }
    *ended = round > 0;
}

__global__ void beat_for_a_block(volatile int *rounds, volatile int *stop, int *ended)
{
    if (blockIdx.x > 0) {
        while (*rounds < 5) // expect: race(warning) a+
            continue;
        *stop = 1; // expect: race(warning) b+
        return;
    }
    int round = 0;
    while (!*stop)         // expect: race(warning) b+
        *rounds = ++round; // expect: race(warning) a+
    *ended = round >= 5;
}

int main()
{
    int *host = NULL, *ended = device_zeros<int>(2), *words = device_zeros<int>(2), result[2];
    CHECK(cudaHostAlloc(&host, 2 * sizeof *host, cudaHostAllocMapped));
    volatile int *rounds = host, *stop = host + 1;
    *rounds = *stop = 0;
    beat<<<1, 1>>>(rounds, stop, ended);
    CHECK(cudaGetLastError());
    while (*rounds < 3)
        continue;
    *stop = 1;
    beat_for_a_block<<<2, 1>>>(words, words + 1, ended + 1);
    fetch(result, ended);
    REQUIRE(result[0] == 1 && result[1] == 1);
    CHECK(cudaFreeHost(host));
    CHECK(cudaFree(ended));
    CHECK(cudaFree(words));
    return 0;
}
