// A kernel that may begin early never waits. The one before it never lets it, so that it begins behind that one's
// blocks.
#include "dependent.h"

__global__ void fill(int *values)
{
    values[index_of_thread()] = 7; // expect: missing-wait(warning) a
}

__global__ void add(int *values)
{
    values[index_of_thread()] += 1; // expect: missing-wait(warning) a
}

int main()
{
    int *values, host[COUNT];
    CHECK(cudaMalloc(&values, sizeof host));
    fill<<<BLOCKS, THREADS>>>(values);
    launch_early(add, 0, values);
    fetch(host, values);
    CHECK(cudaFree(values));
    return 0;
}
