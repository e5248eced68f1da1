// Decoupled look-back: each block publishes with a fence, and looks at the others without one.
#include "../corpus.h"

// cure: after the atomic that takes the lock
enum { EMPTY, AGGREGATE, PREFIX };

struct tile_state {
    int status, aggregate, prefix;
};

__global__ void scan(const int *input, int *output, tile_state *states)
{
    int tile = blockIdx.x, sum = 0;
    states[tile].aggregate = input[tile];
    __threadfence();
    atomicExch(&states[tile].status, AGGREGATE);
    for (int look = tile - 1; look >= 0; look--) {
        int status;
        do
            status = atomicAdd(&states[look].status, 0); // expect: race(warning) a
        while (status == EMPTY);
        sum += status == PREFIX ? states[look].prefix : states[look].aggregate; // expect: race(warning) a
        if (status == PREFIX)
            break;
    }
    states[tile].prefix = sum + input[tile];
    __threadfence();
    atomicExch(&states[tile].status, PREFIX);
    output[tile] = sum + input[tile];
}

int main()
{
    int *input = device_ramp(8, 1, 0), *output = device_zeros<int>(8), result[8];
    tile_state *states = device_zeros<tile_state>(8);
    scan<<<8, 1>>>(input, output, states);
    CHECK(cudaGetLastError());
    fetch(result, output);
    REQUIRE(result[7] == 8);
    CHECK(cudaFree(input));
    CHECK(cudaFree(output));
    CHECK(cudaFree(states));
    return 0;
}
