// A ring buffer whose producer does not wait for room: it overwrites slots that are still being read.
#include "../corpus.h"

enum { SLOTS = 4, ITEMS = 12 };

__global__ void stream_items(int *slot, unsigned *written, int *output)
{
    if (blockIdx.x == 0) {
        for (unsigned i = 0; i < ITEMS; i++) {
            slot[i % SLOTS] = (int)(i * i); // expect: race a
            __threadfence();
            atomicAdd(written, 1);
        }
    } else {
        for (unsigned i = 0; i < ITEMS; i++) {
            while (atomicAdd(written, 0) <= i)
                ;
            __threadfence();
            output[i] = slot[i % SLOTS]; // expect: race a
        }
    }
}

int main()
{
    int *slot = device_zeros<int>(SLOTS), *output = device_zeros<int>(ITEMS);
    unsigned *written = device_zeros<unsigned>(1);
    stream_items<<<2, 1>>>(slot, written, output);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(slot));
    CHECK(cudaFree(output));
    CHECK(cudaFree(written));
    return 0;
}
