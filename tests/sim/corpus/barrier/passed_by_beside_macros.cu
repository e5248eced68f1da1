// Macros that do not leave the kernel, a label and numbers in the way: threads pass the barrier by all the same.
#include "../corpus.h"

#define THREADS            64
#define INDEX(row, column) ((row)*THREADS + (column))
#define SET(to, value)                                                                                                 \
    do {                                                                                                               \
        (to) = (value);                                                                                                \
    } while (0)

__global__ void pass(int *out, int n)
{
    int i = INDEX(0, threadIdx.x);
    SET(out[i], 1'000);
    // those beyond it exit; they have nothing to do
    if (i < n && i < THREADS) {
        __syncthreads(); // expect: barrier-exited
        out[i] = 1;
    }
    SET(out[i], 2);
}

int main()
{
    int *out = device_zeros<int>(64);
    pass<<<1, 64>>>(out, 40);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(out));
    return 0;
}
