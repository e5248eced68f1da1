// Breadth-first search by level: atomicCAS claims a node, a queue takes the next level.
#include "../corpus.h"

__global__ void expand(const int *offsets, const int *edges, int *level, const int *queue, int length, int *next,
                       int *next_length, int depth)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= length)
        return;
    int node = queue[i];
    for (int e = offsets[node]; e < offsets[node + 1]; e++)
        if (atomicCAS(&level[edges[e]], -1, depth + 1) == -1)
            next[atomicAdd(next_length, 1)] = edges[e];
}

int main()
{
    // A ring of 64 nodes with a chord from each node to the one 8 further on.
    const int n = 64;
    int offsets[n + 1], edges[3 * n], level[n], start[n] = {0};
    for (int i = 0; i <= n; i++)
        offsets[i] = 3 * i;
    for (int i = 0; i < n; i++) {
        edges[3 * i] = (i + 1) % n;
        edges[3 * i + 1] = (i + n - 1) % n;
        edges[3 * i + 2] = (i + 8) % n;
        level[i] = i == 0 ? 0 : -1;
    }
    int *d_offsets = device_copy(offsets), *d_edges = device_copy(edges), *d_level = device_copy(level);
    int *queue = device_copy(start), *next = device_copy(start), *d_length = device_zeros<int>(1), length = 1;
    for (int depth = 0; length > 0; depth++) {
        CHECK(cudaMemset(d_length, 0, sizeof(int)));
        expand<<<(length + 31) / 32, 32>>>(d_offsets, d_edges, d_level, queue, length, next, d_length, depth);
        CHECK(cudaMemcpy(&length, d_length, sizeof length, cudaMemcpyDeviceToHost));
        int *swap = queue;
        queue = next;
        next = swap;
    }
    fetch(level, d_level);
    REQUIRE(level[8] == 1 && level[9] == 2 && level[63] == 1 && level[32] == 4);
    for (int i = 0; i < n; i++)
        REQUIRE(level[i] >= 0);
    CHECK(cudaFree(d_offsets));
    CHECK(cudaFree(d_edges));
    CHECK(cudaFree(d_level));
    CHECK(cudaFree(queue));
    CHECK(cudaFree(next));
    CHECK(cudaFree(d_length));
    return 0;
}
