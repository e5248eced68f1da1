// One wave of a breadth-first search: one thread per vertex of the frontier.
//
// The neighbours of vertex v are neighbours[first[v]] … neighbours[first[v + 1] - 1]. A distance of -1: not reached.

__global__ void advance(const int *first, const int *neighbours, int *distances, const int *frontier, int frontier_size,
                        int *next, int *next_size, int distance)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i >= frontier_size)
        return;
    int vertex = frontier[i];
    for (int k = first[vertex]; k < first[vertex + 1]; k++) {
        int neighbour = neighbours[k];
        // TODO: of all threads that find this neighbour, only one may go on
        if (distances[neighbour] == -1) {
            distances[neighbour] = distance;
            next[atomicAdd(next_size, 1)] = neighbour;
        }
    }
}
