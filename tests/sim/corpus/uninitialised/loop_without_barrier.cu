// A barrier is missing in a loop that fills a tile and reads from it. Threads have read before they write in the rounds
// to come, but what they read is what others write in the same round: with the barrier it is all there.
#include "../corpus.h"

__global__ void sum(float *output)
{
    __shared__ float tile[4][64];
    float all = 0;
    for (int round = 0; round < 4; round++) {
        tile[round][threadIdx.x] = round + threadIdx.x; // expect: race a+
        all += tile[round][(threadIdx.x + 32) % 64];    // expect: race a+
    }
    output[threadIdx.x] = all;
}

int main()
{
    float *output = device_zeros<float>(64);
    sum<<<1, 64>>>(output);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(output));
    return 0;
}
