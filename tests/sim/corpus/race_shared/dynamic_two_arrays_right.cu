// Two arrays of different types carved out of one dynamic buffer.
#include "../corpus.h"

extern __shared__ char buffer[];

__global__ void both(double *output, int n)
{
    double *first = (double *)buffer;
    int *second = (int *)(buffer + n * sizeof(double));
    int t = threadIdx.x;
    first[t] = t;
    second[t] = -2 * t;
    __syncthreads();
    output[t] = first[n - 1 - t] + second[n - 1 - t];
}

int main()
{
    double *output = device_zeros<double>(64), result[64];
    both<<<1, 64, 64 * (sizeof(double) + sizeof(int))>>>(output, 64);
    CHECK(cudaGetLastError());
    fetch(result, output);
    for (int i = 0; i < 64; i++)
        REQUIRE(result[i] == -(63 - i));
    CHECK(cudaFree(output));
    return 0;
}
