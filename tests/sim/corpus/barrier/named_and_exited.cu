// A named barrier with a count waits for that many threads, in whole warps: lanes that have exited arrive with the rest
// of their warp, a warp that has exited never does. Without a count it waits for the threads that are left.
#include "../corpus.h"

__global__ void half_a_warp_left(int *out)
{
    __shared__ int values[64];
    values[threadIdx.x] = threadIdx.x;
    if (threadIdx.x >= 48)
        return;
    asm volatile("bar.sync 1, 64;" ::: "memory");
    out[threadIdx.x] = values[47 - threadIdx.x];
}

__global__ void last_warp_is_short(int *out)
{
    __shared__ int values[48];
    values[threadIdx.x] = threadIdx.x;
    asm volatile("bar.sync 1, 64;" ::: "memory");
    out[threadIdx.x] = values[47 - threadIdx.x];
    if (threadIdx.x >= 32)
        asm volatile("bar.sync 2, 32;" ::: "memory");
}

__global__ void short_warp_waits(int *out)
{
    __shared__ int values[32];
    if (threadIdx.x < 32) {
        values[threadIdx.x] = threadIdx.x;
        asm volatile("bar.arrive 1, 64;" ::: "memory");
    } else if (threadIdx.x >= 64) {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        out[threadIdx.x - 64] = values[95 - threadIdx.x];
    }
}

__global__ void half_a_warp_arrives(int *out)
{
    __shared__ int values[32];
    if (threadIdx.x >= 16 && threadIdx.x < 32)
        return;
    if (threadIdx.x < 16) {
        values[threadIdx.x] = threadIdx.x;
        asm volatile("bar.arrive 1, 64;" ::: "memory");
    } else {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        if (threadIdx.x < 48)
            out[threadIdx.x] = values[47 - threadIdx.x];
    }
}

__global__ void warp_left_without_count(int *out)
{
    if (threadIdx.x >= 32)
        return;
    asm volatile("bar.sync 1;" ::: "memory");
    out[threadIdx.x] = 1;
}

__global__ void warp_left(int *out)
{
    if (threadIdx.x >= 32)
        return;
    asm volatile("bar.sync 1, 64;" ::: "memory"); // expect: deadlock
    out[threadIdx.x] = 1;
}

int main()
{
    int *out = device_zeros<int>(64);
    half_a_warp_left<<<1, 64>>>(out);
    last_warp_is_short<<<1, 48>>>(out);
    short_warp_waits<<<1, 80>>>(out);
    half_a_warp_arrives<<<1, 64>>>(out);
    warp_left_without_count<<<1, 64>>>(out);
    CHECK(cudaDeviceSynchronize());
    warp_left<<<1, 64>>>(out);
    return cudaDeviceSynchronize() == cudaSuccess;
}
