// CUB's sorts: by some bits of the keys alone, downwards, in two buffers, by comparison, of segments.
#include "../corpus.h"
#include <cub/cub.cuh>

static const int COUNT = 64;

struct LastDigitLess {
    __host__ __device__ bool operator()(int a, int b) const
    {
        return a % 10 < b % 10;
    }
};

static void *room;
static size_t bytes;

// The first call of two.
static void make_room(size_t needed)
{
    CHECK(cudaFree(room));
    bytes = needed;
    CHECK(cudaMalloc(&room, bytes));
}

// Sorted by bits 4 and 5; those that are equal there keep their order, whatever their other bits are.
static void check_bits()
{
    unsigned key[COUNT], value[COUNT], keys[COUNT], values[COUNT];
    for (unsigned i = 0; i < COUNT; i++) {
        key[i] = (i * 37 % COUNT) | (i % 3) << 20;
        value[i] = i;
    }
    unsigned *from = device_copy(key), *with = device_copy(value);
    unsigned *to = device_zeros<unsigned>(COUNT), *beside = device_zeros<unsigned>(COUNT);
    size_t needed = 0;
    CHECK(cub::DeviceRadixSort::SortPairs(NULL, needed, from, to, with, beside, COUNT, 4, 6));
    make_room(needed);
    CHECK(cub::DeviceRadixSort::SortPairs(room, bytes, from, to, with, beside, COUNT, 4, 6));
    fetch(keys, to);
    fetch(values, beside);
    for (int i = 0; i < COUNT; i++) {
        REQUIRE(keys[i] == key[values[i]] && (keys[i] >> 4 & 3) == (unsigned)i / 16);
        REQUIRE(i % 16 == 0 || values[i - 1] < values[i]);
    }
    CHECK(cub::DeviceRadixSort::SortKeysDescending(room, bytes, from, to, COUNT, 20, 22));
    fetch(keys, to);
    for (int i = 1; i < COUNT; i++)
        REQUIRE(keys[i - 1] >> 20 >= keys[i] >> 20);
    cub::DoubleBuffer<unsigned> both(from, to), numbers(with, beside);
    CHECK(cudaMemcpy(from, key, sizeof key, cudaMemcpyHostToDevice));
    CHECK(cub::DeviceRadixSort::SortPairsDescending(room, bytes, both, numbers, COUNT));
    fetch(keys, both.Current());
    for (int i = 1; i < COUNT; i++)
        REQUIRE(keys[i - 1] >= keys[i]);
    for (unsigned *one : {from, with, to, beside})
        CHECK(cudaFree(one));
}

static void check_floats()
{
    const float key[] = {1.5f, -2, 0, -0.0f, 7, -8};
    float *from = device_copy(key), *to = device_zeros<float>(6), keys[6];
    CHECK(cub::DeviceRadixSort::SortKeys(room, bytes, from, to, 6));
    fetch(keys, to);
    REQUIRE(keys[0] == -8 && keys[1] == -2 && keys[2] == 0 && keys[3] == 0 && keys[4] == 1.5f && keys[5] == 7);
    CHECK(cudaFree(from));
    CHECK(cudaFree(to));
}

static void check_comparison()
{
    int key[COUNT], keys[COUNT];
    for (int i = 0; i < COUNT; i++)
        key[i] = COUNT - i;
    int *from = device_copy(key), *with = device_copy(key), *to = device_zeros<int>(COUNT);
    size_t needed = 0;
    CHECK(cub::DeviceMergeSort::StableSortPairs(NULL, needed, from, with, COUNT, LastDigitLess()));
    make_room(needed);
    CHECK(cub::DeviceMergeSort::StableSortPairs(room, bytes, from, with, COUNT, LastDigitLess()));
    CHECK(cub::DeviceMergeSort::SortKeysCopy(room, bytes, from, to, COUNT, LastDigitLess()));
    fetch(key, with);
    fetch(keys, to);
    for (int i = 0; i < COUNT; i++) {
        REQUIRE(key[i] == keys[i]);
        REQUIRE(i == 0 || key[i - 1] % 10 < key[i] % 10 || (key[i - 1] % 10 == key[i] % 10 && key[i - 1] > key[i]));
    }
    for (int *one : {from, with, to})
        CHECK(cudaFree(one));
}

static void check_segments()
{
    int key[COUNT], keys[COUNT], values[COUNT];
    const int offsets[] = {0, 10, 10, 50, COUNT};
    for (int i = 0; i < COUNT; i++)
        key[i] = i * 29 % COUNT;
    int *from = device_copy(key), *with = device_copy(key), *starts = device_copy(offsets);
    int *to = device_zeros<int>(COUNT), *beside = device_zeros<int>(COUNT);
    size_t needed = 0;
    CHECK(cub::DeviceSegmentedRadixSort::SortKeysDescending(NULL, needed, from, to, COUNT, 4, starts, starts + 1));
    make_room(needed);
    CHECK(cub::DeviceSegmentedRadixSort::SortKeysDescending(room, bytes, from, to, COUNT, 4, starts, starts + 1));
    fetch(keys, to);
    for (int i = 1; i < COUNT; i++)
        REQUIRE(i == 10 || i == 50 || keys[i - 1] > keys[i]);
    CHECK(cub::DeviceSegmentedSort::SortPairs(room, bytes, from, to, with, beside, COUNT, 4, starts, starts + 1));
    fetch(keys, to);
    fetch(values, beside);
    for (int i = 0; i < COUNT; i++)
        REQUIRE(keys[i] == values[i] && (i % 40 == 10 || i == 0 || keys[i - 1] < keys[i]));
    for (int *one : {from, with, starts, to, beside})
        CHECK(cudaFree(one));
}

int main()
{
    check_bits();
    check_floats();
    check_comparison();
    check_segments();
    CHECK(cudaFree(room));
    return 0;
}
