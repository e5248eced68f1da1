// A ticket needs no fence where the thread goes on to inputs and to what its own block has written.
#include "../corpus.h"

__device__ unsigned next;

__global__ void take(const int *input, int *mine, int *output)
{
    __shared__ unsigned ticket;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    mine[i] = input[i];
    __threadfence();
    if (threadIdx.x == 0)
        ticket = atomicAdd(&next, 1u);
    __syncthreads();
    output[ticket * blockDim.x + threadIdx.x] = mine[i ^ 1] + input[0];
}

int main()
{
    int *input = device_ramp(128, 5, 0), *mine = device_zeros<int>(128), *output = device_zeros<int>(128), result[128];
    take<<<4, 32>>>(input, mine, output);
    CHECK(cudaGetLastError());
    fetch(result, output);
    REQUIRE(result[127] == 10);
    CHECK(cudaFree(input));
    CHECK(cudaFree(mine));
    CHECK(cudaFree(output));
    return 0;
}
