// OpenMP in the host code: its threads have parts of the array on the card. The include alone asks for OpenMP.
#include "../corpus.h"
#include <omp.h>

enum { PARTS = 2, PART = 256 };

__global__ void add(int *x, int value)
{
    x[threadIdx.x] += value;
}

int main()
{
    int host[PARTS * PART];
    for (int i = 0; i < PARTS * PART; i++)
        host[i] = i;
    omp_set_num_threads(PARTS);
#pragma omp parallel for
    for (int i = 0; i < PARTS; i++) {
        int *part = host + i * PART, *device;
        REQUIRE(omp_get_thread_num() < PARTS);
        CHECK(cudaMalloc(&device, PART * sizeof(int)));
        CHECK(cudaMemcpy(device, part, PART * sizeof(int), cudaMemcpyHostToDevice));
        add<<<1, PART>>>(device, 3);
        CHECK(cudaMemcpy(part, device, PART * sizeof(int), cudaMemcpyDeviceToHost));
        CHECK(cudaFree(device));
    }
    for (int i = 0; i < PARTS * PART; i++)
        REQUIRE(host[i] == i + 3);
    return 0;
}
