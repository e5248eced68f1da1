// Single-pass scan over blocks with decoupled look-back: aggregate, fence, flag; later blocks look back.
#include "../corpus.h"

enum { EMPTY, AGGREGATE, PREFIX, THREADS = 64 };

struct tile_state {
    int status, aggregate, prefix;
};

__global__ void scan(const int *input, int *output, tile_state *states, unsigned *next_tile)
{
    __shared__ unsigned tile;
    __shared__ int s[THREADS], before;
    int t = threadIdx.x;
    if (t == 0)
        tile = atomicAdd(next_tile, 1u);
    __syncthreads();
    s[t] = input[tile * THREADS + t];
    __syncthreads();
    for (int offset = 1; offset < THREADS; offset *= 2) {
        int add = t >= offset ? s[t - offset] : 0;
        __syncthreads();
        s[t] += add;
        __syncthreads();
    }
    if (t == 0) {
        int total = s[THREADS - 1], sum = 0;
        states[tile].aggregate = total;
        __threadfence();
        atomicExch(&states[tile].status, AGGREGATE);
        for (int look = (int)tile - 1; look >= 0; look--) {
            int status;
            while ((status = atomicAdd(&states[look].status, 0)) == EMPTY)
                ;
            __threadfence();
            if (status == PREFIX) {
                sum += states[look].prefix;
                break;
            }
            sum += states[look].aggregate;
        }
        states[tile].prefix = sum + total;
        __threadfence();
        atomicExch(&states[tile].status, PREFIX);
        before = sum;
    }
    __syncthreads();
    output[tile * THREADS + t] = before + s[t];
}

int main()
{
    const int n = 8 * THREADS;
    int *input = device_ramp(n, 1, 0), *output = device_zeros<int>(n), result[n];
    tile_state *states = device_zeros<tile_state>(8);
    unsigned *next_tile = device_zeros<unsigned>(1);
    scan<<<8, THREADS>>>(input, output, states, next_tile);
    CHECK(cudaGetLastError());
    fetch(result, output);
    for (int i = 0; i < n; i++)
        REQUIRE(result[i] == i + 1);
    CHECK(cudaFree(input));
    CHECK(cudaFree(output));
    CHECK(cudaFree(states));
    CHECK(cudaFree(next_tile));
    return 0;
}
