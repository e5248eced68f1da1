// The index is right, the member is not: the shorter array of a struct is read with the longer one's length.
#include "../corpus.h"

struct graph {
    int *offsets, *edges;
    int nodes;
};

__global__ void degrees(graph g, int *output)
{
    int i = threadIdx.x;
    if (i <= g.nodes)
        output[i] = g.edges[i] + g.offsets[i]; // expect: out-of-bounds
}

int main()
{
    graph g = {device_ramp(9, 0, 1), device_ramp(8, 0, 1), 8};
    int *output = device_zeros<int>(9);
    degrees<<<1, 32>>>(g, output);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(g.offsets));
    SHOW(cudaFree(g.edges));
    SHOW(cudaFree(output));
    return 0;
}
