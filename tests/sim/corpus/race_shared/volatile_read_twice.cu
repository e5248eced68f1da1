// A reduction in volatile shared memory by the lanes of one warp, without __syncwarp. The macro reads each word twice,
// in one expression: that is no loop that waits for a store.
// cure: __syncthreads
#include "../corpus.h"

#define LARGER(a, b) ((a) > (b) ? (a) : (b))

__global__ void largest(const int *input, int *output)
{
    __shared__ volatile int tile[64];
    int t = threadIdx.x;
    tile[t] = input[t];
    tile[t + 32] = input[t + 32];
    tile[t] = LARGER(tile[t], tile[t + 32]); // expect: race a
    if (t < 16)
        tile[t] = LARGER(tile[t], tile[t + 16]); // expect: race a
    if (t == 0)
        *output = tile[0];
}

int main()
{
    int *input = device_ramp<int>(64, 0, 1), *output = device_zeros<int>(1);
    largest<<<1, 32>>>(input, output);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(input));
    CHECK(cudaFree(output));
    return 0;
}
