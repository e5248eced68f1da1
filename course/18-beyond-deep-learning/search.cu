// Breadth-first search of a graph: how many steps is each vertex away from vertex 0? One launch per step; threads of
// the frontier append their new neighbours to the next frontier.

#include "../05-first-kernels/cuda_check.h"

enum { SIDE = 24, VERTICES = SIDE * SIDE, THREADS = 128, UNSEEN = -1 };

// starts[v] … starts[v + 1] are v's edges in targets.
__global__ void advance(const int *starts, const int *targets, int *distance, const int *frontier, int count, int *next,
                        int *next_count, int steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    int vertex = frontier[i];
    for (int edge = starts[vertex]; edge < starts[vertex + 1]; edge++) {
        int target = targets[edge];
        // Several threads may find the same vertex. The one that changes it from UNSEEN appends it; all others do not.
        if (atomicCAS(&distance[target], UNSEEN, steps) == UNSEEN)
            next[atomicAdd(next_count, 1)] = target;
    }
}

// A maze: a grid whose walls leave one way round.
static bool is_wall(int x, int y)
{
    return x % 4 == 2 && y != (x % 8 == 2 ? 0 : SIDE - 1);
}

static int build(int *starts, int *targets)
{
    int edges = 0;
    for (int v = 0; v < VERTICES; v++) {
        int x = v % SIDE, y = v / SIDE;
        starts[v] = edges;
        const int near[4][2] = {{x - 1, y}, {x + 1, y}, {x, y - 1}, {x, y + 1}};
        for (const int *n : near)
            if (n[0] >= 0 && n[0] < SIDE && n[1] >= 0 && n[1] < SIDE && !is_wall(x, y) && !is_wall(n[0], n[1]))
                targets[edges++] = n[1] * SIDE + n[0];
    }
    starts[VERTICES] = edges;
    return edges;
}

int main(void)
{
    static int starts[VERTICES + 1], targets[4 * VERTICES], distance[VERTICES];
    int *device_starts, *device_targets, *device_distance, *frontier, *next, *next_count, count = 1, steps = 0,
                                                                                          first = 0;
    build(starts, targets);
    for (int i = 1; i < VERTICES; i++)
        distance[i] = UNSEEN;
    CUDA_CHECK(cudaMalloc(&device_starts, sizeof starts));
    CUDA_CHECK(cudaMalloc(&device_targets, sizeof targets));
    CUDA_CHECK(cudaMalloc(&device_distance, sizeof distance));
    CUDA_CHECK(cudaMalloc(&frontier, sizeof distance));
    CUDA_CHECK(cudaMalloc(&next, sizeof distance));
    CUDA_CHECK(cudaMalloc(&next_count, sizeof count));
    CUDA_CHECK(cudaMemcpy(device_starts, starts, sizeof starts, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(device_targets, targets, sizeof targets, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(device_distance, distance, sizeof distance, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(frontier, &first, sizeof first, cudaMemcpyHostToDevice));
    while (count > 0) {
        CUDA_CHECK(cudaMemset(next_count, 0, sizeof count));
        advance<<<(count + THREADS - 1) / THREADS, THREADS>>>(device_starts, device_targets, device_distance, frontier,
                                                              count, next, next_count, ++steps);
        CUDA_CHECK_LAUNCH();
        CUDA_CHECK(cudaMemcpy(&count, next_count, sizeof count, cudaMemcpyDeviceToHost));
        int *other = frontier;
        frontier = next;
        next = other;
    }
    CUDA_CHECK(cudaMemcpy(distance, device_distance, sizeof distance, cudaMemcpyDeviceToHost));
    printf("the far corner is %d steps away\n", distance[VERTICES - 1]);
    for (int *memory : {device_starts, device_targets, device_distance, frontier, next, next_count})
        CUDA_CHECK(cudaFree(memory));
    return 0;
}
