// Breadth-first search that claims nodes by test and set instead of atomicCAS: a node may be queued twice.
#include "../corpus.h"

__global__ void expand(const int *offsets, const int *edges, int *level, const int *queue, int length, int *next,
                       int *next_length, int depth)
{
    int i = threadIdx.x;
    if (i >= length)
        return;
    int node = queue[i];
    for (int e = offsets[node]; e < offsets[node + 1]; e++)
        if (level[edges[e]] == -1) {     // expect: race a
            level[edges[e]] = depth + 1; // expect: race a; allow: race(warning); allow: race
            next[atomicAdd(next_length, 1)] = edges[e];
        }
}

int main()
{
    // Both nodes of the queue have an edge to node 2.
    int offsets[4] = {0, 1, 2, 2}, edges[2] = {2, 2}, level[3] = {0, 0, -1}, start[4] = {0, 1, 0, 0};
    int *d_offsets = device_copy(offsets), *d_edges = device_copy(edges), *d_level = device_copy(level);
    int *queue = device_copy(start), *next = device_copy(start), *length = device_zeros<int>(1);
    expand<<<1, 32>>>(d_offsets, d_edges, d_level, queue, 2, next, length, 0);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(d_offsets));
    CHECK(cudaFree(d_edges));
    CHECK(cudaFree(d_level));
    CHECK(cudaFree(queue));
    CHECK(cudaFree(next));
    CHECK(cudaFree(length));
    return 0;
}
