// curandState kept in global memory between launches.
#include "../corpus.h"
#include <curand_kernel.h>

__global__ void prepare(curandState *states)
{
    curand_init(7, threadIdx.x, 0, &states[threadIdx.x]);
}

__global__ void draw(curandState *states, float *output)
{
    curandState mine = states[threadIdx.x];
    output[threadIdx.x] = curand_uniform(&mine) + 0 * curand_normal(&mine);
    states[threadIdx.x] = mine;
}

int main()
{
    curandState *states = NULL;
    float *output = device_zeros<float>(32), first[32], second[32];
    CHECK(cudaMalloc(&states, 32 * sizeof(curandState)));
    prepare<<<1, 32>>>(states);
    draw<<<1, 32>>>(states, output);
    fetch(first, output);
    draw<<<1, 32>>>(states, output);
    fetch(second, output);
    CHECK(cudaGetLastError());
    int different = 0;
    for (int i = 0; i < 32; i++) {
        REQUIRE(first[i] > 0 && first[i] <= 1);
        different += first[i] != second[i];
    }
    REQUIRE(different > 28);
    CHECK(cudaFree(states));
    CHECK(cudaFree(output));
    return 0;
}
