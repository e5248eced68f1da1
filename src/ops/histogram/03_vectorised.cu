// histogram, rung 3: several copies of the counts per block; values by 16-byte loads.
//
// Rung 2's lanes were serialised at a bin that several of them hit. With C copies, and lane l counting in copy l mod C,
// only 1/C of them meet in one place. Copies are interleaved, bin by bin, so that copies of one bin are in different
// banks. A thread loads four values at a time, with four such loads in flight.
//
// Limited by: memory bandwidth if the values are spread over the bins; by atomics if most of them are equal.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"
#include "ops/cuda/vector.h"

enum {
    THREADS = 512,
    BLOCKS_AN_SM = 4,
    LOADS = 4, // in flight at once, per thread
    TILE = THREADS * LOADS * HEDDLE_VECTOR,
    MOST_COPIES = 32,            // one for each lane
    PREFERRED_BYTES = 32 * 1024, // four blocks' counts fit on an SM
};

template <bool aligned> __device__ static int4 load_values(const int *from)
{
    if (aligned)
        return *(const int4 *)from;
    return make_int4(from[0], from[1], from[2], from[3]);
}

// values: (n), counts: (bins), zero before the launch
template <bool aligned>
__global__ void __launch_bounds__(THREADS)
    histogram_vectorised(int n, int bins, int copies, const int *values, int *counts)
{
    extern __shared__ int own[]; // (bins, copies)
    for (int at = threadIdx.x; at < bins * copies; at += THREADS)
        own[at] = 0;
    __syncthreads();

    int copy = threadIdx.x % copies;
    long long tiles = n / TILE;
    for (long long tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        int4 value[LOADS];
#pragma unroll
        for (int i = 0; i < LOADS; i++)
            value[i] = load_values<aligned>(values + tile * TILE + HEDDLE_VECTOR * (threadIdx.x + i * THREADS));
#pragma unroll
        for (int i = 0; i < LOADS; i++) {
            atomicAdd(&own[value[i].x * copies + copy], 1);
            atomicAdd(&own[value[i].y * copies + copy], 1);
            atomicAdd(&own[value[i].z * copies + copy], 1);
            atomicAdd(&own[value[i].w * copies + copy], 1);
        }
    }
    if (blockIdx.x == 0) // the values that no whole tile covers
        for (long long i = tiles * TILE + threadIdx.x; i < n; i += THREADS)
            atomicAdd(&own[values[i] * copies + copy], 1);
    __syncthreads();

    for (int bin = threadIdx.x; bin < bins; bin += THREADS) {
        int sum = 0;
        for (int c = 0; c < copies; c++)
            sum += own[bin * copies + (c + bin) % copies]; // lanes begin at different copies: different banks
        if (sum > 0)
            atomicAdd(&counts[bin], sum);
    }
}

// As many copies as fit beside other blocks, a power of two; one for many bins.
static int copies_for(int bins)
{
    int copies = MOST_COPIES;
    while (copies > 1 && (size_t)bins * copies * sizeof(int) > PREFERRED_BYTES)
        copies /= 2;
    return copies;
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_histogram_shape *shape = (const heddle_histogram_shape *)call->shape;
    const int *values = (const int *)call->input[0];
    int copies = copies_for(shape->bins);
    unsigned needed = (unsigned)(shape->n / TILE), most = BLOCKS_AN_SM * heddle_cuda_multiprocessors();
    unsigned blocks = needed < 1 ? 1 : needed < most ? needed : most;
    cudaMemsetAsync(call->output[0], 0, shape->bins * sizeof(int), heddle_cuda_stream_of(call));
    if (shape->n > 0)
        (heddle_aligned16(values)
             ? histogram_vectorised<true>
             : histogram_vectorised<false>)<<<blocks, THREADS, (size_t)shape->bins * copies * sizeof(int),
                                              heddle_cuda_stream_of(call)>>>(shape->n, shape->bins, copies, values,
                                                                             (int *)call->output[0]);
    return heddle_cuda_launched("03_vectorised");
}

HEDDLE_CUDA_RUNG("histogram", "03_vectorised", launch)
