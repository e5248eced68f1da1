// More small allocations than have wide gaps around them, and some that come and go.
#include "../corpus.h"

__global__ void number(int **cells, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        *cells[i] = i;
}

__global__ void sum(int *const *cells, int n, int *total)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(total, *cells[i]);
}

enum { CELLS = 3000, ROUNDS = 300 };
static int *cell[CELLS];

int main()
{
    int **cells = NULL, *total = device_zeros<int>(1), result[1];
    for (int i = 0; i < CELLS; i++)
        CHECK(cudaMalloc(&cell[i], sizeof(int)));
    CHECK(cudaMalloc(&cells, sizeof cell));
    CHECK(cudaMemcpy(cells, cell, sizeof cell, cudaMemcpyHostToDevice));
    number<<<(CELLS + 255) / 256, 256>>>(cells, CELLS);
    sum<<<(CELLS + 255) / 256, 256>>>(cells, CELLS, total);
    fetch(result, total);
    REQUIRE(result[0] == CELLS * (CELLS - 1) / 2);
    for (int i = 0; i < CELLS; i++)
        CHECK(cudaFree(cell[i]));
    for (int i = 0; i < ROUNDS; i++) {
        int *one = device_ramp(3, i, 1), copy[3];
        fetch(copy, one);
        REQUIRE(copy[2] == i + 2);
        CHECK(cudaFree(one));
    }
    CHECK(cudaFree(cells));
    CHECK(cudaFree(total));
    return 0;
}
