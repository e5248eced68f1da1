// select, rung 1: flags, their running sums and a scatter, in three kernels, one thread per element.
//
// A counter that every selected element increments would hand out places in whatever order threads come. To keep the
// order, an element's place must be the number of elements before it that are selected: a running sum of flags. The
// first kernel scans a block's flags, adding the sum at a distance that doubles each round, and stores every place. The
// second adds up the totals of the blocks. The third writes every element that is selected to its place. Every other
// one writes a zero, from the end of the output on: then all of the output is written, exactly once.
//
// Limited by: places that go to memory and back, which is as many bytes as the elements and the result have together;
// and a barrier for each of eight rounds.

#include "ops/select/totals.h"

enum { THREADS = HEDDLE_CUDA_BLOCK };

// input: (n), places: (n), counted from 1 within a block, totals: (blocks)
__global__ void select_places(heddle_select_shape shape, const float *input, int *places, int *totals)
{
    __shared__ int sums[2][THREADS]; // one is read while the other is written
    const size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    int from = 0;
    sums[from][threadIdx.x] = i < (size_t)shape.n && input[i] > shape.threshold;
    for (int distance = 1; distance < THREADS; distance *= 2, from = 1 - from) {
        __syncthreads();
        int before = threadIdx.x >= distance ? sums[from][threadIdx.x - distance] : 0;
        sums[1 - from][threadIdx.x] = before + sums[from][threadIdx.x];
    }
    if (i < (size_t)shape.n)
        places[i] = sums[from][threadIdx.x];
    if (threadIdx.x == THREADS - 1)
        totals[blockIdx.x] = sums[from][threadIdx.x];
}

// before: (blocks), the sums of the totals before each
__global__ void select_scatter(heddle_select_shape shape, const float *input, const int *places, const int *before,
                               float *output)
{
    const size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x, n = shape.n;
    if (i >= n)
        return;
    const float value = input[i];
    const size_t selected = before[blockIdx.x] + places[i]; // up to and with this one
    if (value > shape.threshold)
        output[selected - 1] = value;
    else
        output[n - 1 - (i - selected)] = 0;
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_select_shape *shape = (const heddle_select_shape *)call->shape;
    const float *input = (const float *)call->input[0];
    float *output = (float *)call->output[0];
    int *count = (int *)call->output[1], *places = (int *)call->workspace, *totals = places + shape->n;
    cudaStream_t stream = heddle_cuda_stream_of(call);
    const unsigned blocks = heddle_cuda_blocks(shape->n);
    if (blocks == 0) {
        cudaMemsetAsync(count, 0, sizeof *count, stream);
        return heddle_cuda_launched("01_naive");
    }
    select_places<<<blocks, THREADS, 0, stream>>>(*shape, input, places, totals);
    select_add_totals<<<1, SELECT_ADDERS, 0, stream>>>(blocks, totals, count);
    select_scatter<<<blocks, THREADS, 0, stream>>>(*shape, input, places, totals, output);
    return heddle_cuda_launched("01_naive");
}

HEDDLE_CUDA_RUNG("select", "01_naive", launch)
