// Thieves see by an atomic that there is work, and read it without a fence.
#include "../corpus.h"

// cure: after the atomic that takes the lock
enum { ITEMS = 8 };

__global__ void share_work(int *items, int *top, int *bottom, int *done)
{
    if (blockIdx.x == 0) {
        for (int i = 0; i < ITEMS; i++) {
            items[i] = 100 + i;
            __threadfence();
            atomicAdd(bottom, 1);
        }
        return;
    }
    for (;;) {
        int mine = atomicAdd(top, 0);
        if (mine == ITEMS)
            return;
        if (mine < atomicAdd(bottom, 0) && atomicCAS(top, mine, mine + 1) == mine) { // expect: race(warning) a
            done[mine] = items[mine];                                                // expect: race(warning) a
        }
    }
}

int main()
{
    int *items = device_zeros<int>(ITEMS), *done = device_zeros<int>(ITEMS), result[ITEMS];
    int *top = device_zeros<int>(1), *bottom = device_zeros<int>(1);
    share_work<<<4, 1>>>(items, top, bottom, done);
    CHECK(cudaGetLastError());
    fetch(result, done);
    for (int i = 0; i < ITEMS; i++)
        REQUIRE(result[i] == 100 + i);
    CHECK(cudaFree(items));
    CHECK(cudaFree(done));
    CHECK(cudaFree(top));
    CHECK(cudaFree(bottom));
    return 0;
}
