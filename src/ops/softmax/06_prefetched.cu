// softmax and log_softmax, rung 6: a block holds a long row alone, and its next row is always on its way.
//
// In rung 5 a block waits for the other blocks of its cluster, twice per row, and has nothing to load meanwhile. Here
// one block fills an SM and holds the whole row: 200,000 bytes in shared memory. It goes from row to row, and each
// thread copies its vectors by cp.async to slots that no other thread uses, so that no barrier guards them. The first
// vectors of a row move to registers as soon as they arrive, and their slots receive the next row's at once. The other
// slots receive theirs as the row is stored. So while a row waits for its last elements, its sum and its stores, the
// next one is being loaded: 96 KB per SM have been asked for when the row before is complete.
//
// The largest value and the sum are found in one pass as the vectors arrive (the online softmax of rung 3), and one
// barrier per row merges those of the warps. exp is called twice per element: arithmetic has time while memory is busy.
//
// Shorter rows get fewer threads and several blocks per SM. A row may begin anywhere, as in rung 5: vectors that it
// shares with its neighbours are moved element by element.
//
// Limited by: memory bandwidth.

#include <float.h>

#include "device/cuda/cuda.h"
#include "heddle/ops.h"
#include "ops/cuda/mma.h"
#include "ops/cuda/row_group.h"
#include "ops/cuda/rung.h"
#include "ops/softmax/softmax.h"

enum {
    VECTORS = 25, // per thread
    KEPT = 12,    // of them in registers
    MOST_THREADS = 512,
    LEAST_COLS = 16384, // rung 4 holds shorter rows in registers
    LINE = 32,          // elements in a line of the cache
    // Each step below commits a group of copies, an empty one if it has none, so that a copy is always the same number
    // of groups ago. A row has VECTORS steps that read it and one for each vector that is stored from its slot.
    CYCLE = VECTORS + VECTORS - KEPT,
};

// Where a row lies: vector v of it begins at column 4 * v - shift. Vector 0 begins a line of the cache, which the row
// may share with the one before: so a warp touches four lines per vector, not five.
struct long_row {
    size_t first; // element
    int cols, shift;

    __device__ long_row(heddle_rows_shape shape, size_t row)
        : first(row * shape.cols), cols(shape.cols), shift((int)(first % LINE))
    {
    }
    // Of this thread's vector i.
    __device__ int column(int i) const
    {
        return HEDDLE_VECTOR * (int)(threadIdx.x + i * blockDim.x) - shift;
    }
    __device__ bool holds(int column) const
    {
        return (unsigned)column < (unsigned)cols;
    }
    // Those in registers are, but for the first: a row has more of them than the launcher's least.
    __device__ bool is_whole(int i) const
    {
        return (i > 0 && i < KEPT) || (unsigned)column(i) <= (unsigned)(cols - HEDDLE_VECTOR);
    }
};

// Starts the copy of this thread's vector i to its slot. What lies outside the row becomes -inf.
__device__ static void fetch(const long_row &row, int i, const float *matrix, float4 *slot)
{
    const int column = row.column(i);
    const float *from = matrix + row.first + column;
    if (row.is_whole(i))
        heddle_copy_once(slot, from);
    else
        for (int k = 0; k < HEDDLE_VECTOR; k++)
            if (row.holds(column + k))
                cp_async_4((float *)slot + k, from + k);
            else
                ((float *)slot)[k] = -INFINITY;
}

__device__ static void store(const long_row &row, int i, float *matrix, float4 value)
{
    const int column = row.column(i);
    float *to = matrix + row.first + column;
    const float element[HEDDLE_VECTOR] = {value.x, value.y, value.z, value.w};
    if (row.is_whole(i))
        *(float4 *)to = value;
    else
        for (int k = 0; k < HEDDLE_VECTOR; k++)
            if (row.holds(column + k))
                to[k] = element[k];
}

// The largest of some values, and the sum of exp(x - most). `most` begins as the lowest number, not as -inf: the
// difference from it is never NaN.
struct online_sum {
    float most, sum;

    __device__ void add(float4 x)
    {
        const float before = most;
        most = fmaxf(most, fmaxf(fmaxf(x.x, x.y), fmaxf(x.z, x.w)));
        sum *= expf(before - most);
        sum += (expf(x.x - most) + expf(x.y - most)) + (expf(x.z - most) + expf(x.w - most));
    }
    __device__ void merge_warp()
    {
        const float before = most;
        most = heddle_lanes_combine<HEDDLE_WARP, true>(most);
        sum = heddle_lanes_combine<HEDDLE_WARP, false>(sum * expf(before - most));
    }
    // `of_warp` is shared memory that no thread may still be reading.
    __device__ void merge_block(online_sum *of_warp)
    {
        const unsigned lane = threadIdx.x % HEDDLE_WARP;
        merge_warp();
        if (lane == 0)
            of_warp[threadIdx.x / HEDDLE_WARP] = *this;
        __syncthreads();
        *this = lane < blockDim.x / HEDDLE_WARP ? of_warp[lane] : online_sum{-FLT_MAX, 0};
        merge_warp();
    }
};

// How a row's elements become its output.
template <bool logarithm> struct row_scale {
    float most, scale; // log_softmax: the logarithm of the sum

    __device__ row_scale(online_sum row) : most(row.most), scale(logarithm ? logf(row.sum) : 1 / row.sum)
    {
    }
    __device__ float of(float x) const
    {
        return logarithm ? x - most - scale : expf(x - most) * scale;
    }
    __device__ float4 of(float4 x) const
    {
        return make_float4(of(x.x), of(x.y), of(x.z), of(x.w));
    }
};

// input and output: (rows, cols)
template <bool logarithm>
__global__ void __launch_bounds__(MOST_THREADS, 1)
    softmax_prefetched(heddle_rows_shape shape, const float *input, float *output)
{
    extern __shared__ float4 slots[];               // (VECTORS, threads)
    __shared__ online_sum of_warp[2][HEDDLE_WARPS]; // used alternately: some threads still read one while others write
    float4 *mine = slots + threadIdx.x;             // the next
    const int threads = (int)blockDim.x;
#pragma unroll 1
    for (int i = 0; i < VECTORS; i++) {
        for (int group = 0; group < VECTORS - KEPT && i == KEPT; group++)
            cp_async_commit();
        fetch(long_row(shape, blockIdx.x), i, input, mine + i * threads);
        cp_async_commit();
    }
    int turn = 0;
    for (size_t number = blockIdx.x; number < (size_t)shape.rows; number += gridDim.x, turn ^= 1) {
        const long_row row(shape, number), next(shape, number + gridDim.x);
        const bool more = number + gridDim.x < (size_t)shape.rows;
        online_sum all = {-FLT_MAX, 0};
        float4 kept[KEPT];
#pragma unroll
        for (int i = 0; i < KEPT; i++) {
            cp_async_wait_group<CYCLE - 1>();
            kept[i] = mine[i * threads];
            if (more)
                fetch(next, i, input, mine + i * threads);
            cp_async_commit();
            all.add(kept[i]);
        }
#pragma unroll 1
        for (int i = KEPT; i < VECTORS; i++) {
            cp_async_wait_group<VECTORS - 1>();
            all.add(mine[i * threads]);
            cp_async_commit();
        }
        all.merge_block(of_warp[turn]);

        const row_scale<logarithm> scale(all);
#pragma unroll
        for (int i = 0; i < KEPT; i++)
            store(row, i, output, scale.of(kept[i]));
#pragma unroll 1
        for (int i = KEPT; i < VECTORS; i++) {
            store(row, i, output, scale.of(mine[i * threads]));
            if (more)
                fetch(next, i, input, mine + i * threads);
            cp_async_commit();
        }
    }
}

// Threads for a row: as few as hold it. 0: it is too long, or so short that rung 4 holds it in registers.
static int threads_of(int cols)
{
    const int slots = VECTORS * HEDDLE_WARP; // of a warp
    const long long vectors = ((long long)cols + LINE - 1 + HEDDLE_VECTOR - 1) / HEDDLE_VECTOR;
    const long long threads = (vectors + slots - 1) / slots * HEDDLE_WARP;
    return cols >= LEAST_COLS && threads <= MOST_THREADS ? (int)threads : 0;
}

template <bool logarithm> static heddle_status launch(const heddle_call *call)
{
    const heddle_rows_shape *shape = (const heddle_rows_shape *)call->shape;
    const float *input = (const float *)call->input[0];
    float *output = (float *)call->output[0];
    const int threads = threads_of(shape->cols), bytes = VECTORS * threads * (int)sizeof(float4);
    auto kernel = softmax_prefetched<logarithm>;
    cudaStream_t stream = heddle_cuda_stream_of(call);
    int on_each = 0;
    if (shape->rows > 0 && threads > 0 && heddle_aligned16(input) && heddle_aligned16(output) &&
        bytes <= heddle_cuda_shared_bytes()) {
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&on_each, kernel, threads, bytes);
    }
    if (on_each == 0)
        return logarithm ? heddle_log_softmax_forward_vectorised(call) : heddle_softmax_forward_vectorised(call);
        // At least two rows per block: otherwise it has nothing to prefetch.
#if defined(HEDDLE_SIM_MODULE)
    const int most = 1; // which has three rows of a shape that is tested there
#else
    const int most = heddle_cuda_multiprocessors() * on_each;
#endif
    const int pairs = (shape->rows - 1) / 2 + 1;
    const int blocks = most < pairs ? most : pairs;
    kernel<<<blocks, threads, bytes, stream>>>(*shape, input, output);
    return heddle_cuda_launched("06_prefetched");
}

HEDDLE_CUDA_RUNG("softmax_forward", "06_prefetched", launch<false>)
HEDDLE_CUDA_RUNG("log_softmax_forward", "06_prefetched", launch<true>)
