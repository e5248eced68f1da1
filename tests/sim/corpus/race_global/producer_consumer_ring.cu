// A ring buffer between two blocks: the producer waits for room, the consumer for data, both with fence and atomic.
#include "../corpus.h"

enum { SLOTS = 4, ITEMS = 20 };

struct ring {
    int slot[SLOTS];
    unsigned written, taken;
};

__global__ void stream_items(ring *r, int *output)
{
    if (blockIdx.x == 0) {
        for (unsigned i = 0; i < ITEMS; i++) {
            while (i - atomicAdd(&r->taken, 0) >= SLOTS)
                ;
            __threadfence();
            r->slot[i % SLOTS] = (int)(i * i);
            __threadfence();
            atomicAdd(&r->written, 1);
        }
    } else {
        for (unsigned i = 0; i < ITEMS; i++) {
            while (atomicAdd(&r->written, 0) <= i)
                ;
            __threadfence();
            output[i] = r->slot[i % SLOTS];
            __threadfence();
            atomicAdd(&r->taken, 1);
        }
    }
}

int main()
{
    ring *r = device_zeros<ring>(1);
    int *output = device_zeros<int>(ITEMS), result[ITEMS];
    stream_items<<<2, 1>>>(r, output);
    CHECK(cudaGetLastError());
    fetch(result, output);
    for (int i = 0; i < ITEMS; i++)
        REQUIRE(result[i] == i * i);
    CHECK(cudaFree(r));
    CHECK(cudaFree(output));
    return 0;
}
