// CUB's selections, partitions, reductions and scans by key, and the element that is the largest; a histogram whose
// bins do not divide its range; scans in place; a function for each element.
#include "../corpus.h"
#include <cub/cub.cuh>

static const int COUNT = 60;

struct Even {
    __host__ __device__ bool operator()(int x) const
    {
        return x % 2 == 0;
    }
};
struct Small {
    __host__ __device__ bool operator()(int x) const
    {
        return x < 10;
    }
};
struct Larger {
    template <class T> __host__ __device__ T operator()(const T &a, const T &b) const
    {
        return a < b ? b : a;
    }
};
struct Square {
    __host__ __device__ int operator()(int x) const
    {
        return x * x;
    }
};
struct Store {
    int *to;
    __device__ void operator()(int i) const
    {
        to[i] = 3 * i;
    }
};

static void *room;
static const size_t most = 1 << 16;

// Both calls; one room is large enough for all.
#define CUB(call, ...)                                                                                                 \
    do {                                                                                                               \
        size_t bytes = 0;                                                                                              \
        CHECK(cub::call(NULL, bytes, __VA_ARGS__));                                                                    \
        REQUIRE(bytes <= most);                                                                                        \
        CHECK(cub::call(room, bytes, __VA_ARGS__));                                                                    \
    } while (0)

static int *numbers, *keys, *out, *other, *count;
static int result[COUNT], host_count[2];

static void check_selections()
{
    CUB(DeviceSelect::If, numbers, out, count, COUNT, Even());
    fetch(host_count, count);
    fetch(result, out);
    REQUIRE(host_count[0] == 30 && result[29] == 58);
    CUB(DeviceSelect::Unique, keys, out, count, COUNT);
    fetch(host_count, count);
    fetch(result, out);
    REQUIRE(host_count[0] == 6 && result[5] == 5);
    CUB(DeviceSelect::UniqueByKey, keys, numbers, out, other, count, COUNT);
    fetch(result, other);
    REQUIRE(result[5] == 50);
    CUB(DeviceSelect::FlaggedIf, numbers, keys, out, count, COUNT, Even());
    fetch(host_count, count);
    REQUIRE(host_count[0] == 30);
    CUB(DevicePartition::If, numbers, out, count, COUNT, Even());
    fetch(host_count, count);
    fetch(result, out);
    REQUIRE(host_count[0] == 30 && result[29] == 58 && result[30] == 59 && result[59] == 1);
    CUB(DevicePartition::Flagged, numbers, keys, out, count, COUNT);
    fetch(host_count, count);
    fetch(result, out);
    REQUIRE(host_count[0] == 50 && result[0] == 10 && result[50] == 9);
    CUB(DevicePartition::If, numbers, out, other, other + 30, count, COUNT, Small(), Even());
    fetch(host_count, count);
    fetch(result, other);
    REQUIRE(host_count[0] == 10 && host_count[1] == 25 && result[24] == 58 && result[30] == 11);
    CHECK(cudaMemcpy(out, numbers, sizeof result, cudaMemcpyDeviceToDevice));
    CUB(DeviceSelect::If, out, count, COUNT, Small());
    fetch(host_count, count);
    REQUIRE(host_count[0] == 10);
}

static void check_by_key()
{
    CUB(DeviceReduce::ReduceByKey, keys, out, numbers, other, count, Larger(), COUNT);
    fetch(result, other);
    fetch(host_count, count);
    REQUIRE(host_count[0] == 6 && result[0] == 9 && result[5] == 59);
    CUB(DeviceScan::ExclusiveSumByKey, keys, numbers, out, COUNT);
    fetch(result, out);
    REQUIRE(result[10] == 0 && result[12] == 21);
    CUB(DeviceScan::InclusiveScanByKey, keys, numbers, out, Larger(), COUNT);
    fetch(result, out);
    REQUIRE(result[59] == 59);
    CUB(DeviceScan::InclusiveSum, out, COUNT);
    fetch(result, out);
    REQUIRE(result[3] == 6 && result[59] == 59 * 30);
    CUB(DeviceAdjacentDifference::SubtractLeftCopy, out, other, COUNT);
    fetch(result, other);
    REQUIRE(result[0] == 0 && result[7] == 7);
}

static void check_reductions()
{
    CUB(DeviceReduce::TransformReduce, numbers, count, 10, Larger(), Square(), -1);
    fetch(host_count, count);
    REQUIRE(host_count[0] == 81);
    CUB(DeviceReduce::Reduce, numbers, count, COUNT, Larger(), 7);
    fetch(host_count, count);
    REQUIRE(host_count[0] == 59);
    CUB(DeviceHistogram::HistogramEven, numbers, out, 4, 0, 40, COUNT);
    fetch(result, out);
    REQUIRE(result[0] == 14 && result[1] == 13 && result[2] == 13);
    const int bounds[] = {5, 6, 50};
    int *levels = device_copy(bounds);
    CUB(DeviceHistogram::HistogramRange, numbers, out, 3, levels, COUNT);
    fetch(result, out);
    REQUIRE(result[0] == 1 && result[1] == 44);
    CHECK(cudaFree(levels));
    CHECK(cub::DeviceFor::Bulk(COUNT, Store{out}));
    fetch(result, out);
    REQUIRE(result[0] == 0 && result[59] == 177);
}

int main()
{
    numbers = device_ramp(COUNT, 0, 1);
    for (int **array : {&keys, &out, &other})
        *array = device_zeros<int>(COUNT);
    count = device_zeros<int>(2);
    for (int i = 0; i < COUNT; i++)
        result[i] = i / 10;
    CHECK(cudaMemcpy(keys, result, sizeof result, cudaMemcpyHostToDevice));
    CHECK(cudaMalloc(&room, most));
    check_selections();
    check_by_key();
    check_reductions();
    for (void *one : {(void *)numbers, (void *)keys, (void *)out, (void *)other, (void *)count, room})
        CHECK(cudaFree(one));
    return 0;
}
