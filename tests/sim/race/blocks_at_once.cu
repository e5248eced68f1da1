// Two blocks go through the same words at the same time, each word once: every word races, and is known to. A worker
// that overlooks what another has just noted of a word misses its only race.
#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

extern "C" void sim_race_observe(void (*callback)(uintptr_t address, size_t bytes, void *context), void *context);
extern "C" void sim_race_report(void);

enum { LANES = 32, LAUNCHES = 4000, PATIENCE = 50000 };

// What a warp did is judged when it ends. So that both blocks' are at the same instant, their last lanes wait for each
// other, unseen by the detector, and not for long: one worker may be running both blocks, one after the other.
struct arrival {
    alignas(64) volatile int launch;
};
static arrival arrivals[2];

SIM_UNWATCHED __device__ __noinline__ void meet(int block, int lane, int launch)
{
    if (lane != LANES - 1)
        return;
    arrivals[block].launch = launch;
    for (int i = 0; i < PATIENCE && arrivals[1 - block].launch < launch; i++)
        ;
}

__global__ void two_writes(int *words, int launch)
{
    words[threadIdx.x] = (int)blockIdx.x;
    meet(blockIdx.x, threadIdx.x, launch);
}

__global__ void read_and_write(int *words, int launch)
{
    if (blockIdx.x == 0)
        words[threadIdx.x] = 0;
    else if (words[threadIdx.x] == 2)
        words[LANES] = 1; // never
    meet(blockIdx.x, threadIdx.x, launch);
}

static char raced[LANES];
static uintptr_t first;

static SIM_UNWATCHED void observe(uintptr_t address, size_t, void *)
{
    uintptr_t word = (address - first) / sizeof(int);
    if (word < LANES)
        raced[word] = 1;
}

static bool all_race(const char *what, void (*kernel)(int *, int), int *words)
{
    static int launch;
    int missed = 0;
    for (int i = 0; i < LAUNCHES; i++) {
        memset(raced, 0, sizeof raced);
        kernel<<<2, LANES>>>(words, ++launch);
        cudaDeviceSynchronize();
        for (char one : raced)
            missed += !one;
    }
    if (missed)
        printf("%s: %d of %d races missed\n", what, missed, LAUNCHES * LANES);
    return missed == 0;
}

int main()
{
    int *words;
    cudaMalloc(&words, (LANES + 1) * sizeof *words);
    cudaMemset(words, 0, (LANES + 1) * sizeof *words);
    first = (uintptr_t)words;
    sim_race_observe(observe, NULL);
    bool right = all_race("two writes", two_writes, words);
    right = all_race("a read and a write", read_and_write, words) && right;
    cudaFree(words);
    sim_race_report(); // who asks again is told only what is new
    sim_race_report();
    return right ? 0 : 1;
}
