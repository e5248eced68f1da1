// Functions whose first parameter is a bracketed reference are no variables.
#include "../corpus.h"

#include <cstdint>

typedef float real;
struct Box {
    int x;
};

__device__ void load(uint32_t (&to)[4], const uint32_t *from)
{
    for (int i = 0; i < 4; i++)
        to[i] = from[i];
}

template <class T> __device__ T sum(T (&of)[4])
{
    T all = 0;
    for (int i = 0; i < 4; i++)
        all += of[i];
    return all;
}

__device__ real first(real (&of)[4]);
__device__ real first(real (&of)[4])
{
    return of[0];
}

__device__ Box made(Box(&&box))
{
    return box;
}

__device__ Box boxes[4];

__global__ void add(const uint32_t *from, uint32_t *to)
{
    uint32_t tile[4];
    real reals[4] = {1, 2, 3, 4};
    load(tile, from);
    to[threadIdx.x] = sum(tile) + (uint32_t)first(reals) + made(Box{2}).x + boxes[0].x;
}

int main()
{
    uint32_t *from = device_zeros<uint32_t>(4), *to = device_zeros<uint32_t>(32);
    add<<<1, 32>>>(from, to);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(from));
    CHECK(cudaFree(to));
    return 0;
}
