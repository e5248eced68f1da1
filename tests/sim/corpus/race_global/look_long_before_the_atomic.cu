// A plain look at a word, then much else, and then an atomic on the word that decides by what it finds itself.
#include "../corpus.h"

enum { INPUTS = 200, SLOTS = 256 };

__global__ void largest(const int *input, int *best)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, sum = i;
    int seen = best[i % 4]; // expect: race(warning) a
    for (int j = 0; j < INPUTS; j++)
        sum += input[j];
    if (seen < sum)
        atomicMax(&best[i % 4], sum); // expect: race(warning) a
}

__global__ void take_slots(int *slots, int *taken)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int s = i % 8;; s = (s + 1) % SLOTS) {
        int seen = slots[s]; // expect: race(warning) b
        __syncwarp(__activemask());
        if (seen == 0) {
            taken[i] = s;
            __threadfence();
            if (atomicCAS(&slots[s], 0, i + 1) == 0) // expect: race(warning) b
                return;
        }
    }
}

int main()
{
    int *input = device_ramp(INPUTS, 0, 1), *best = device_zeros<int>(4), *slots = device_zeros<int>(SLOTS);
    int *taken = device_zeros<int>(128), result[4];
    largest<<<2, 64>>>(input, best);
    SHOW(cudaGetLastError());
    take_slots<<<2, 64>>>(slots, taken);
    SHOW(cudaGetLastError());
    fetch(result, best);
    REQUIRE(result[3] == 127 + INPUTS * (INPUTS - 1) / 2);
    CHECK(cudaFree(input));
    CHECK(cudaFree(best));
    CHECK(cudaFree(slots));
    CHECK(cudaFree(taken));
    return 0;
}
