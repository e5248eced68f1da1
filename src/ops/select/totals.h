// The middle one of three kernels, which rungs 1 and 2 share: what each block has selected becomes what the blocks
// before it have.
#pragma once

#include "heddle/ops.h"
#include "ops/cuda/rung.h"

enum { SELECT_ADDERS = 1024 }; // threads of the one block that adds the totals up

// totals: (blocks), *count: their sum
static __global__ void __launch_bounds__(SELECT_ADDERS) select_add_totals(int blocks, int *totals, int *count)
{
    __shared__ int sums[SELECT_ADDERS];
    const int each = (blocks - 1) / SELECT_ADDERS + 1, begin = min((int)threadIdx.x * each, blocks);
    const int end = min(begin + each, blocks);
    int sum = 0;
    for (int i = begin; i < end; i++)
        sum += totals[i];
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int distance = 1; distance < SELECT_ADDERS; distance *= 2) {
        int before = threadIdx.x >= distance ? sums[threadIdx.x - distance] : 0;
        __syncthreads();
        sums[threadIdx.x] += before;
        __syncthreads();
    }
    if (threadIdx.x == SELECT_ADDERS - 1)
        *count = sums[threadIdx.x];
    sum = sums[threadIdx.x] - sum;
    for (int i = begin; i < end; i++) {
        int total = totals[i];
        totals[i] = sum;
        sum += total;
    }
}
