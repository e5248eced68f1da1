// A producer and two groups of consumers, each with a barrier of its own, over tiles in turns: a tile is written again only
// after both groups have met the producer once more. Right, although racecheck reports hazards in kernels of this form.
#include "../corpus.h"

enum { FIRST = 64, SECOND = 32, PRODUCERS = 32, TILES = 6 };

__global__ void passed_on(int *output)
{
    __shared__ int tile[2][32];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, sum = 0;
    for (int i = 0; i < TILES; i++) {
        if (warp == 3) {
            tile[i % 2][lane] = i * 100 + lane;
            __barrier_sync_count(1, FIRST + PRODUCERS);
            __barrier_sync_count(2, SECOND + PRODUCERS);
        } else {
            __barrier_sync_count(warp < 2 ? 1 : 2, (warp < 2 ? FIRST : SECOND) + PRODUCERS);
            sum += tile[i % 2][31 - lane];
        }
    }
    if (warp < 3)
        output[threadIdx.x] = sum;
}

int main()
{
    int *output = device_zeros<int>(96), result[96];
    passed_on<<<1, 128>>>(output);
    CHECK(cudaGetLastError());
    fetch(result, output);
    for (int i = 0; i < 96; i++)
        REQUIRE(result[i] == 1500 + TILES * (31 - i % 32));
    CHECK(cudaFree(output));
    return 0;
}
