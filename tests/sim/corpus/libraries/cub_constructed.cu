// Items with constructors in CUB's storage: shared memory is not constructed, and a storage may be part of a union.
#include "../corpus.h"
#include <cub/cub.cuh>

static const int THREADS = 64;

struct Range {
    float low, high;
    __host__ __device__ Range() : low(1e30f), high(-1e30f)
    {
    }
    __host__ __device__ explicit Range(float x) : low(x), high(x)
    {
    }
};
struct Differs {
    __device__ bool operator()(const Range &a, const Range &b) const
    {
        return a.low != b.low || a.high != b.high;
    }
};
struct Join {
    __device__ Range operator()(const Range &a, const Range &b) const
    {
        Range both;
        both.low = a.low < b.low ? a.low : b.low;
        both.high = a.high > b.high ? a.high : b.high;
        return both;
    }
};

typedef cub::BlockReduce<Range, THREADS> Reduce;
typedef cub::BlockScan<Range, THREADS> Scan;
typedef cub::BlockDiscontinuity<Range, THREADS> Runs;

__global__ void join(const float *numbers, Range *all, Range *until, int *heads)
{
    __shared__ Reduce::TempStorage reduce;
    __shared__ union {
        Scan::TempStorage scan;
        Runs::TempStorage runs;
    } storage;
    const Range mine(numbers[threadIdx.x]);
    Range before, same[1] = {Range(numbers[threadIdx.x / 4])};
    const Range joined = Reduce(reduce).Reduce(mine, Join());
    if (threadIdx.x == 0)
        *all = joined;
    Scan(storage.scan).InclusiveScan(mine, before, Join());
    __syncthreads();
    until[threadIdx.x] = before;
    int head[1];
    Runs(storage.runs).FlagHeads(head, same, Differs());
    heads[threadIdx.x] = head[0];
}

int main()
{
    Range *all = NULL, *until = NULL, range, ranges[THREADS];
    int *heads = device_zeros<int>(THREADS), head[THREADS];
    float *numbers = device_ramp(THREADS, -7.0f, 1.0f);
    CHECK(cudaMalloc(&all, sizeof range));
    CHECK(cudaMalloc(&until, sizeof ranges));
    join<<<1, THREADS>>>(numbers, all, until, heads);
    CHECK(cudaMemcpy(&range, all, sizeof range, cudaMemcpyDeviceToHost));
    REQUIRE(range.low == -7 && range.high == 56);
    fetch(ranges, until);
    fetch(head, heads);
    for (int i = 0; i < THREADS; i++)
        REQUIRE(ranges[i].low == -7 && ranges[i].high == i - 7 && head[i] == (i % 4 == 0));
    CHECK(cudaFree(all));
    CHECK(cudaFree(until));
    CHECK(cudaFree(heads));
    CHECK(cudaFree(numbers));
    return 0;
}
