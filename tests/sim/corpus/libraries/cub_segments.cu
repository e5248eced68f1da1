// CUB's reductions of segments, also empty ones and over an iterator that makes its elements; the flags of a block
// where runs begin and end.
#include "../corpus.h"
#include <cub/cub.cuh>
#include <limits.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

enum { COUNT = 128, SEGMENTS = 4, THREADS = 32, ITEMS = 4 };

struct Square {
    const int *from;
    __host__ __device__ int operator()(int i) const
    {
        return from[i] * from[i];
    }
};
struct Larger {
    __host__ __device__ int operator()(int a, int b) const
    {
        return a < b ? b : a;
    }
};
struct DiffersInTile {
    __device__ bool operator()(int a, int b, int index) const
    {
        return a != b || index % 8 == 0;
    }
};

typedef cub::BlockDiscontinuity<int, THREADS> Runs;

__global__ void flag(const int *from, int *heads, int *tails, int *tiles)
{
    __shared__ Runs::TempStorage storage;
    const int first = ITEMS * threadIdx.x;
    int items[ITEMS], head[ITEMS], tail[ITEMS], tile[ITEMS];
    for (int i = 0; i < ITEMS; i++)
        items[i] = from[first + i];
    Runs(storage).FlagHeadsAndTails(head, -1, tail, items, cub::Inequality());
    __syncthreads();
    Runs(storage).FlagHeads(tile, items, DiffersInTile(), items[0]);
    for (int i = 0; i < ITEMS; i++) {
        heads[first + i] = head[i];
        tails[first + i] = tail[i];
        tiles[first + i] = tile[i];
    }
}

static void check_flags()
{
    int from[COUNT], heads[COUNT], tails[COUNT], tiles[COUNT];
    for (int i = 0; i < COUNT; i++)
        from[i] = i / 6;
    int *to[3] = {device_zeros<int>(COUNT), device_zeros<int>(COUNT), device_zeros<int>(COUNT)};
    int *device = device_copy(from);
    flag<<<1, THREADS>>>(device, to[0], to[1], to[2]);
    fetch(heads, to[0]);
    fetch(tails, to[1]);
    fetch(tiles, to[2]);
    for (int i = 0; i < COUNT; i++) {
        REQUIRE(heads[i] == (i % 6 == 0));
        REQUIRE(tails[i] == (i % 6 == 5 || i == COUNT - 1));
        REQUIRE(tiles[i] == (i % 8 == 0 || i % 6 == 0));
    }
    for (int *one : to)
        CHECK(cudaFree(one));
    CHECK(cudaFree(device));
}

int main()
{
    const int offsets[SEGMENTS + 1] = {0, 32, 32, 96, COUNT};
    int *numbers = device_ramp<int>(COUNT, 0, 1), *starts = device_copy(offsets), *out = device_zeros<int>(SEGMENTS);
    int result[SEGMENTS];
    size_t bytes = 0;
    void *room = NULL;
    CHECK(cub::DeviceSegmentedReduce::Sum(room, bytes, numbers, out, SEGMENTS, starts, starts + 1));
    CHECK(cudaMalloc(&room, bytes));
    CHECK(cub::DeviceSegmentedReduce::Sum(room, bytes, numbers, out, SEGMENTS, starts, starts + 1));
    fetch(result, out);
    REQUIRE(result[0] == 496 && result[1] == 0 && result[2] == 64 * 127 / 2 && result[3] == 32 * 223 / 2);
    CHECK(cub::DeviceSegmentedReduce::Max(room, bytes, numbers, out, SEGMENTS, starts, starts + 1));
    fetch(result, out);
    REQUIRE(result[0] == 31 && result[1] == INT_MIN && result[2] == 95 && result[3] == COUNT - 1);
    CHECK(cub::DeviceSegmentedReduce::Min(room, bytes, numbers, out, SEGMENTS, starts, starts + 1));
    fetch(result, out);
    REQUIRE(result[0] == 0 && result[1] == INT_MAX && result[2] == 32 && result[3] == 96);
    CHECK(cub::DeviceSegmentedReduce::Reduce(room, bytes, numbers, out, SEGMENTS, starts, starts + 1, Larger(), 40));
    fetch(result, out);
    REQUIRE(result[0] == 40 && result[1] == 40 && result[2] == 95 && result[3] == COUNT - 1);
    auto squares = thrust::make_transform_iterator(thrust::make_counting_iterator(0), Square{numbers});
    CHECK(cub::DeviceSegmentedReduce::Sum(room, bytes, squares, out, 1, starts, starts + 1));
    fetch(result, out);
    REQUIRE(result[0] == 31 * 32 * 63 / 6);
    check_flags();
    CHECK(cudaFree(room));
    CHECK(cudaFree(numbers));
    CHECK(cudaFree(starts));
    CHECK(cudaFree(out));
    return 0;
}
