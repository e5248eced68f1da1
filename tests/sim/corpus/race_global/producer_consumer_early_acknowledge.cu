// A ring buffer whose consumer gives a slot back before it has read it: the producer may overwrite it.
#include "../corpus.h"

enum { SLOTS = 4, ITEMS = 12 };

__global__ void stream_items(int *slot, unsigned *written, unsigned *taken, int *output)
{
    if (blockIdx.x == 0) {
        for (unsigned i = 0; i < ITEMS; i++) {
            while (i - atomicAdd(taken, 0) >= SLOTS)
                ;
            __threadfence();
            slot[i % SLOTS] = (int)(i * i); // expect: race a
            __threadfence();
            atomicAdd(written, 1);
        }
    } else {
        for (unsigned i = 0; i < ITEMS; i++) {
            while (atomicAdd(written, 0) <= i)
                ;
            __threadfence();
            atomicAdd(taken, 1);
            output[i] = slot[i % SLOTS]; // expect: race a
        }
    }
}

int main()
{
    int *slot = device_zeros<int>(SLOTS), *output = device_zeros<int>(ITEMS);
    unsigned *written = device_zeros<unsigned>(1), *taken = device_zeros<unsigned>(1);
    stream_items<<<2, 1>>>(slot, written, taken, output);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(slot));
    CHECK(cudaFree(output));
    CHECK(cudaFree(written));
    CHECK(cudaFree(taken));
    return 0;
}
