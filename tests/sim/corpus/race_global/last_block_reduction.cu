// The last block to finish adds up the partial sums: store, __threadfence, atomic counter, __threadfence, load.
#include "../corpus.h"

__device__ unsigned finished;

__global__ void sum(const int *input, int *partial, int *output)
{
    __shared__ bool last;
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = input[blockIdx.x * 64 + t];
    __syncthreads();
    for (int half = 32; half > 0; half /= 2) {
        if (t < half)
            s[t] += s[t + half];
        __syncthreads();
    }
    if (t == 0) {
        partial[blockIdx.x] = s[0];
        __threadfence();
        last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && t == 0) {
        __threadfence();
        int total = 0;
        for (unsigned b = 0; b < gridDim.x; b++)
            total += partial[b];
        *output = total;
    }
}

int main()
{
    int *input = device_ramp(512, 0, 1), *partial = device_zeros<int>(8), *output = device_zeros<int>(1), result[1];
    for (int repeat = 0; repeat < 2; repeat++) {
        sum<<<8, 64>>>(input, partial, output);
        CHECK(cudaGetLastError());
        fetch(result, output);
        REQUIRE(result[0] == 511 * 512 / 2);
    }
    CHECK(cudaFree(input));
    CHECK(cudaFree(partial));
    CHECK(cudaFree(output));
    return 0;
}
