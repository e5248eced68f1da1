// Threads that search, and look in every round whether another has found it: right, though the flag's accesses race
// formally. They store other things meanwhile, and none waits.
#include "../corpus.h"

__global__ void search(const int *values, int count, int wanted, volatile int *found, int *visited)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        if (*found) // expect: race(warning) a
            return;
        visited[i] = 1;
        if (values[i] == wanted)
            *found = 1; // expect: race(warning) a
    }
}

int main()
{
    int *values = device_ramp<int>(2048, 0, 1), *found = device_zeros<int>(1), *visited = device_zeros<int>(2048);
    search<<<4, 64>>>(values, 2048, 1000, found, visited);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(values));
    CHECK(cudaFree(found));
    CHECK(cudaFree(visited));
    return 0;
}
