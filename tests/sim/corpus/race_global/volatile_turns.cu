// Two blocks take turns: each waits for its number in a volatile word, works, and stores the other's. Right, though
// the accesses to the word race formally.
#include "../corpus.h"

__global__ void take_turns(volatile int *turn, int *data, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        while (*turn != blockIdx.x) // expect: race(warning) a
            ;
        __threadfence();
        data[0] += 1;
        __threadfence();
        *turn = 1 - blockIdx.x; // expect: race(warning) a; race(warning) b
    }
}

int main()
{
    int *turn = device_zeros<int>(1), *data = device_zeros<int>(1), result[1];
    take_turns<<<2, 1>>>(turn, data, 3);
    SHOW(cudaGetLastError());
    fetch(result, data);
    REQUIRE(result[0] == 6);
    CHECK(cudaFree(turn));
    CHECK(cudaFree(data));
    return 0;
}
