// All lanes of a warp read a word, and one of them writes it with no __syncwarp between: the first lane, the second, a
// later one.
#include "../corpus.h"

__global__ void next(int *output)
{
    __shared__ int turn[3];
    int t = threadIdx.x;
    if (t < 3)
        turn[t] = 1;
    __syncthreads();
    int sum = turn[0]; // expect: race a
    sum += turn[1];    // expect: race b
    sum += turn[2];    // expect: race c
    if (t == 0)
        turn[0] = 2; // expect: race a
    if (t == 1)
        turn[1] = 2; // expect: race b
    if (t == 17)
        turn[2] = 2; // expect: race c
    output[t] = sum;
}

int main()
{
    int *output = device_zeros<int>(32);
    next<<<1, 32>>>(output);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(output));
    return 0;
}
