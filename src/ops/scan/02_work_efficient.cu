// scan, rung 2: up a tree of sums and down again (Blelloch, 1990): two additions per element instead of log n.
//
// On the way up, pairs are added, then pairs of pairs; the last place holds the total. On the way down, every node
// gives its left child the sum before it, and its right child that sum plus the left child's. Indices are padded by one
// for every 32, so that power-of-two strides do not hit one bank.
//
// Limited by: passes over memory. Tiles are scanned, totals are scanned, totals are added: every element is read twice
// and written twice.

#include "ops/scan/levels.h"

enum {
    THREADS = 512,
    TILE = 2 * THREADS, // two elements per thread
    BANKS = 32,
};

__device__ static int padded(int place)
{
    return place + place / BANKS;
}

// input, output: (n), totals: (blocks) or NULL
__global__ void scan_work_efficient(int n, const float *input, float *output, float *totals)
{
    __shared__ float tree[TILE + TILE / BANKS];
    size_t first = (size_t)blockIdx.x * TILE;
    float own[2]; // the tree gives an exclusive scan: each element is added to its own result at the end
    for (int half = 0; half < 2; half++) {
        int at = threadIdx.x + half * THREADS;
        own[half] = first + at < (size_t)n ? input[first + at] : 0;
        tree[padded(at)] = own[half];
    }

    int distance = 1;
    for (int nodes = THREADS; nodes > 0; nodes /= 2, distance *= 2) {
        __syncthreads();
        if (threadIdx.x < nodes) {
            int left = distance * (2 * threadIdx.x + 1) - 1;
            tree[padded(left + distance)] += tree[padded(left)];
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        if (totals)
            totals[blockIdx.x] = tree[padded(TILE - 1)];
        tree[padded(TILE - 1)] = 0; // nothing comes before the root
    }
    for (int nodes = 1; nodes < TILE; nodes *= 2) {
        distance /= 2;
        __syncthreads();
        if (threadIdx.x < nodes) {
            int left = distance * (2 * threadIdx.x + 1) - 1;
            float of_left = tree[padded(left)];
            tree[padded(left)] = tree[padded(left + distance)];
            tree[padded(left + distance)] += of_left;
        }
    }
    __syncthreads();

    for (int half = 0; half < 2; half++) {
        int at = threadIdx.x + half * THREADS;
        if (first + at < (size_t)n)
            output[first + at] = tree[padded(at)] + own[half];
    }
}

static void scan_tiles(int n, const float *input, float *output, float *totals, unsigned tiles, cudaStream_t stream)
{
    scan_work_efficient<<<tiles, THREADS, 0, stream>>>(n, input, output, totals);
}

static heddle_status launch(const heddle_call *call)
{
    heddle_scan_levels<TILE>(((const heddle_elements_shape *)call->shape)->n, (const float *)call->input[0],
                             (float *)call->output[0], (float *)call->workspace, scan_tiles,
                             heddle_cuda_stream_of(call));
    return heddle_cuda_launched("02_work_efficient");
}

HEDDLE_CUDA_RUNG("scan", "02_work_efficient", launch)
