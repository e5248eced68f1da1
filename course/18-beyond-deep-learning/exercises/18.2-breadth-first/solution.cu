// One wave of a breadth-first search: one thread per vertex of the frontier.
//
// The neighbours of vertex v are neighbours[first[v]] … neighbours[first[v + 1] - 1]. A distance of -1: not reached.
//
// atomicCAS tests and stores in one operation: of all threads that come to the same neighbour, exactly one finds -1
// there. That one appends it. atomicAdd gives each appended vertex a place of its own.

__global__ void advance(const int *first, const int *neighbours, int *distances, const int *frontier, int frontier_size,
                        int *next, int *next_size, int distance)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i >= frontier_size)
        return;
    int vertex = frontier[i];
    for (int k = first[vertex]; k < first[vertex + 1]; k++) {
        int neighbour = neighbours[k];
        if (atomicCAS(&distances[neighbour], -1, distance) == -1)
            next[atomicAdd(next_size, 1)] = neighbour;
    }
}
