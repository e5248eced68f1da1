// The storage of a block's sort is used again without a barrier between: keys of the second meet those of the first.
#include <cub/cub.cuh>

#include "../corpus.h"

typedef cub::BlockRadixSort<int, 64, 2> Sort;

__global__ void sort_twice(int *a, int *b)
{
    __shared__ Sort::TempStorage storage;
    int first[2] = {a[2 * threadIdx.x], a[2 * threadIdx.x + 1]};
    int second[2] = {b[2 * threadIdx.x], b[2 * threadIdx.x + 1]};
    Sort(storage).Sort(first);            // expect: race a
    Sort(storage).SortDescending(second); // expect: race a
    for (int i = 0; i < 2; i++) {
        a[2 * threadIdx.x + i] = first[i];
        b[2 * threadIdx.x + i] = second[i];
    }
}

int main()
{
    int *a = device_ramp(128, 0, 1), *b = device_ramp(128, 0, 1);
    sort_twice<<<1, 64>>>(a, b);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    return 0;
}
