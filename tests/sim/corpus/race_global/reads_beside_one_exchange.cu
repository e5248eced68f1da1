// All threads but one read a word that this one swaps: what they get is a matter of luck. That some thread of the warp
// has read the word before does not make the others' reads a guess which the swap confirms.
#include "../corpus.h"

__global__ void spread(int *word, int *output)
{
    int t = threadIdx.x, seen = t < 31 ? *word : 0; // expect: race a
    if (t == 31)
        atomicCAS(word, 0, 5); // expect: race a
    output[t] = seen;
}

int main()
{
    int *word = device_zeros<int>(1), *output = device_zeros<int>(32);
    spread<<<1, 32>>>(word, output);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(word));
    CHECK(cudaFree(output));
    return 0;
}
