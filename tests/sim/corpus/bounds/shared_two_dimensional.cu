// A column index of 33 in a row of 33: the access stays inside the array but leaves its row.
#include "../corpus.h"

__global__ void fill(int *output, int column)
{
    __shared__ int tile[4][33];
    int t = threadIdx.x;
    if (t < 4) {
        tile[t][column] = t; // expect: out-of-bounds
        output[t] = tile[t][0] = t;
    }
}

int main()
{
    int *output = device_zeros<int>(4);
    fill<<<1, 32>>>(output, 33);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(output));
    return 0;
}
