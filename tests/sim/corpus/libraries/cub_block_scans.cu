// CUB's scans of a block: of several items per thread by any operation, and with a prefix that a function of the
// program's carries from tile to tile. Exchanges of items between threads, and a block's histogram.
#include "../corpus.h"
#include <cub/cub.cuh>

static const int THREADS = 64, ITEMS = 3, TILE = THREADS * ITEMS, TILES = 4, COUNT = TILES * TILE, BINS = 16;

struct Running {
    int total;
    __device__ int operator()(int block_total)
    {
        int before = total;
        total += block_total;
        return before;
    }
};
struct Larger {
    __device__ int operator()(int a, int b) const
    {
        return a < b ? b : a;
    }
};

typedef cub::BlockScan<int, THREADS> Scan;
typedef cub::BlockExchange<int, THREADS, ITEMS> Exchange;
typedef cub::BlockHistogram<unsigned char, THREADS, ITEMS, BINS, cub::BLOCK_HISTO_ATOMIC> Histogram;

// One block, tile after tile.
__global__ void scan(const int *from, int *sums, int *largest)
{
    __shared__ union {
        Scan::TempStorage scan;
        Exchange::TempStorage exchange;
    } storage;
    Running running = {100};
    for (int tile = 0; tile < TILES; tile++) {
        int items[ITEMS], most[ITEMS];
        for (int i = 0; i < ITEMS; i++)
            items[i] = from[tile * TILE + i * THREADS + threadIdx.x];
        Exchange(storage.exchange).StripedToBlocked(items);
        __syncthreads();
        Scan(storage.scan).InclusiveScan(items, most, Larger());
        __syncthreads();
        Scan(storage.scan).ExclusiveSum(items, items, running);
        __syncthreads();
        for (int i = 0; i < ITEMS; i++)
            largest[tile * TILE + threadIdx.x * ITEMS + i] = most[i];
        Exchange(storage.exchange).BlockedToStriped(items);
        __syncthreads();
        for (int i = 0; i < ITEMS; i++)
            sums[tile * TILE + i * THREADS + threadIdx.x] = items[i];
    }
}

__global__ void reverse_and_count(int *numbers, int *counts)
{
    __shared__ Exchange::TempStorage exchange;
    __shared__ Histogram::TempStorage storage;
    __shared__ int histogram[BINS];
    int items[ITEMS], ranks[ITEMS], value = threadIdx.x, before;
    unsigned char samples[ITEMS];
    for (int i = 0; i < ITEMS; i++) {
        items[i] = threadIdx.x * ITEMS + i;
        ranks[i] = TILE - 1 - items[i];
        samples[i] = items[i] % 10;
    }
    Exchange(exchange).ScatterToBlocked(items, ranks);
    Histogram(storage).Histogram(samples, histogram);
    __syncthreads();
    for (int i = 0; i < ITEMS; i++)
        numbers[threadIdx.x * ITEMS + i] = items[i];
    if (threadIdx.x < BINS)
        counts[threadIdx.x] = histogram[threadIdx.x];
    __shared__ Scan::TempStorage scan;
    Running running = {1000};
    Scan(scan).ExclusiveSum(value, before, running);
    if (threadIdx.x == 5)
        counts[BINS] = before;
}

int main()
{
    int values[COUNT], result[COUNT];
    for (int i = 0; i < COUNT; i++)
        values[i] = i * 37 % 101;
    int *from = device_copy(values), *sums = device_zeros<int>(COUNT), *largest = device_zeros<int>(COUNT);
    scan<<<1, THREADS>>>(from, sums, largest);
    fetch(result, sums);
    for (int i = 0, sum = 100; i < COUNT; sum += values[i++])
        REQUIRE(result[i] == sum);
    fetch(result, largest);
    for (int i = 0, most = 0; i < COUNT; i++) {
        most = i % TILE == 0 || values[i] > most ? values[i] : most;
        REQUIRE(result[i] == most);
    }
    reverse_and_count<<<1, THREADS>>>(sums, largest);
    fetch(result, sums);
    for (int i = 0; i < TILE; i++)
        REQUIRE(result[i] == TILE - 1 - i);
    fetch(result, largest);
    REQUIRE(result[0] == 20 && result[1] == 20 && result[2] == 19 && result[9] == 19 && result[10] == 0);
    REQUIRE(result[BINS] == 1010);
    for (int *one : {from, sums, largest})
        CHECK(cudaFree(one));
    return 0;
}
