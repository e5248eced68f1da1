// Monte-Carlo pi with cuRAND's device generator.
#include "../corpus.h"
#include <curand_kernel.h>

__global__ void darts(unsigned *hits, int tries)
{
    curandStatePhilox4_32_10_t state;
    unsigned id = blockIdx.x * blockDim.x + threadIdx.x, mine = 0;
    curand_init(1234, id, 0, &state);
    for (int i = 0; i < tries; i++) {
        float x = curand_uniform(&state), y = curand_uniform(&state);
        mine += x * x + y * y <= 1;
    }
    atomicAdd(hits, mine);
}

int main()
{
    unsigned *hits = device_zeros<unsigned>(1), result[1];
    darts<<<2, 64>>>(hits, 100);
    CHECK(cudaGetLastError());
    fetch(result, hits);
    double pi = 4.0 * result[0] / (2 * 64 * 100);
    REQUIRE(pi > 3.0 && pi < 3.3);
    CHECK(cudaFree(hits));
    return 0;
}
