// softmax, its gradient and that of log_softmax, rung 5: the blocks of a cluster hold a long row in registers.
//
// Rung 4 reads a row of more than 16,384 elements twice: no block has registers for all of it. Here up to 16 blocks
// hold a slice each. They read each other's largest value and sum from shared memory, and every block scales its slice.
// So a row is read once and written once. An SM has slices of several rows: while one is loaded, others are computed or
// stored.
//
// A row may begin anywhere: its vectors are those of the memory, and only the first and the last of them are moved
// element by element.
//
// log_softmax has no such rung forward: it calls exp once per element as it is, and a row read again comes from the
// cache. Copying the next row to shared memory meanwhile made this rung slower (64 instead of 71 % of bandwidth).
//
// Limited by: the wait for the other blocks of a cluster.

#include <cooperative_groups.h>

#include "heddle/ops.h"
#include "ops/cuda/dependent.h"
#include "ops/cuda/row_group.h"
#include "ops/cuda/rung.h"
#include "ops/cuda/vector.h"
#include "ops/softmax/softmax.h"

enum {
    THREADS = 256,
    VECTORS = 8, // per thread
    SLICE = THREADS * VECTORS * HEDDLE_VECTOR,
    MOST_CLUSTER = 16,
};

// A block's part of a row: vectors `from` to `to` of it. Vector v begins at column 4 * v - shift, at an address that is
// a multiple of 16.
struct row_slice {
    size_t row; // its first element
    int cols, shift, from, to;

    __device__ row_slice(heddle_rows_shape shape, unsigned rank, unsigned blocks)
    {
        row = (size_t)(blockIdx.x / blocks) * shape.cols;
        cols = shape.cols;
        shift = (int)(row % HEDDLE_VECTOR);
        const int count = (cols + shift - 1) / HEDDLE_VECTOR + 1, share = (count - 1) / (int)blocks + 1;
        from = (int)rank * share;
        to = min(from + share, count);
    }
    __device__ int column(int i) const
    {
        return HEDDLE_VECTOR * (from + (int)threadIdx.x + i * THREADS) - shift;
    }
    __device__ bool has(int i) const
    {
        return from + (int)threadIdx.x + i * THREADS < to;
    }
    __device__ bool is_whole(int column) const
    {
        return column >= 0 && column + HEDDLE_VECTOR <= cols;
    }
    __device__ bool holds(int column) const
    {
        return column >= 0 && column < cols;
    }
    __device__ void load(const float *matrix, float missing, float (*value)[HEDDLE_VECTOR]) const
    {
#pragma unroll
        for (int i = 0; i < VECTORS; i++) {
            const int at = column(i);
            const float *place = matrix + row + at;
            float4 loaded = make_float4(missing, missing, missing, missing);
            if (has(i) && is_whole(at))
                loaded = *(const float4 *)place;
            else if (has(i))
                loaded = make_float4(holds(at) ? place[0] : missing, holds(at + 1) ? place[1] : missing,
                                     holds(at + 2) ? place[2] : missing, holds(at + 3) ? place[3] : missing);
            value[i][0] = loaded.x;
            value[i][1] = loaded.y;
            value[i][2] = loaded.z;
            value[i][3] = loaded.w;
        }
    }
    __device__ void store(float *matrix, const float (*value)[HEDDLE_VECTOR]) const
    {
#pragma unroll
        for (int i = 0; i < VECTORS; i++) {
            const int at = column(i);
            float *place = matrix + row + at;
            if (has(i) && is_whole(at))
                *(float4 *)place = make_float4(value[i][0], value[i][1], value[i][2], value[i][3]);
            else if (has(i))
                for (int k = 0; k < HEDDLE_VECTOR; k++)
                    if (holds(at + k))
                        place[k] = value[i][k];
        }
    }
};

// Of a slice: its largest value, and the sum of exp(x - most); going back, `sum` alone.
struct slice_total {
    float most, sum;
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

// A lane of each warp has the total of one block of the cluster; without one, that of nothing.
__device__ static slice_total total_of_lane(cooperative_groups::cluster_group cluster, slice_total *mine)
{
    const int lane = threadIdx.x % HEDDLE_WARP;
    cluster.sync();
    return lane < (int)cluster.num_blocks() ? *cluster.map_shared_rank(mine, lane) : slice_total{-INFINITY, 0};
}

__global__ void __launch_bounds__(THREADS) softmax_clusters(heddle_rows_shape shape, const float *input, float *output)
{
    __shared__ float of_warp[2][HEDDLE_WARPS];
    __shared__ slice_total total;
    cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
    const row_slice slice(shape, cluster.block_rank(), cluster.num_blocks());
    float value[VECTORS][HEDDLE_VECTOR], most = -INFINITY, sum = 0;
    heddle_wait_for_previous();
    heddle_release_next();
    slice.load(input, -INFINITY, value);
#pragma unroll
    for (int i = 0; i < VECTORS; i++)
        most = fmaxf(most, fmaxf(fmaxf(value[i][0], value[i][1]), fmaxf(value[i][2], value[i][3])));
    most = heddle_group_max<THREADS>(most, of_warp[0]);
    const float from = most == -INFINITY ? 0 : most; // a difference from -inf is NaN
#pragma unroll
    for (int i = 0; i < VECTORS; i++)
#pragma unroll
        for (int k = 0; k < HEDDLE_VECTOR; k++) {
            value[i][k] = expf(value[i][k] - from);
            sum += value[i][k];
        }
    sum = heddle_group_sum<THREADS>(sum, of_warp[1]);
    if (threadIdx.x == 0)
        total = slice_total{most, sum};

    const slice_total other = total_of_lane(cluster, &total);
    const float row_most = heddle_lanes_combine<HEDDLE_WARP, true>(other.most);
    const float row_sum =
        heddle_lanes_combine<HEDDLE_WARP, false>(other.most == -INFINITY ? 0 : other.sum * expf(other.most - row_most));
    const float scale = expf(from - row_most) / row_sum;
#pragma unroll
    for (int i = 0; i < VECTORS; i++)
#pragma unroll
        for (int k = 0; k < HEDDLE_VECTOR; k++)
            value[i][k] *= scale;
    slice.store(output, value);
    cluster.sync(); // no block exits while another reads its total
}

// softmax:     grad_input = y * (grad - Σ grad * y)
// log_softmax: grad_input = grad - exp(y) * Σ grad
template <bool logarithm>
__global__ void __launch_bounds__(THREADS)
    softmax_backward_clusters(heddle_rows_shape shape, const float *output, const float *grad_output, float *grad_input)
{
    __shared__ float of_warp[HEDDLE_WARPS];
    __shared__ slice_total total;
    cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
    const row_slice slice(shape, cluster.block_rank(), cluster.num_blocks());
    float y[VECTORS][HEDDLE_VECTOR], grad[VECTORS][HEDDLE_VECTOR], sum = 0;
    heddle_wait_for_previous();
    heddle_release_next();
    slice.load(output, 0, y);
    slice.load(grad_output, 0, grad);
#pragma unroll
    for (int i = 0; i < VECTORS; i++)
#pragma unroll
        for (int k = 0; k < HEDDLE_VECTOR; k++)
            sum += logarithm ? grad[i][k] : grad[i][k] * y[i][k];
    sum = heddle_group_sum<THREADS>(sum, of_warp);
    if (threadIdx.x == 0)
        total = slice_total{0, sum};
    sum = heddle_lanes_combine<HEDDLE_WARP, false>(total_of_lane(cluster, &total).sum);
#pragma unroll
    for (int i = 0; i < VECTORS; i++)
#pragma unroll
        for (int k = 0; k < HEDDLE_VECTOR; k++)
            grad[i][k] = logarithm ? grad[i][k] - expf(y[i][k]) * sum : y[i][k] * (grad[i][k] - sum);
    slice.store(grad_input, grad);
    cluster.sync();
}

#else // older GPUs have no clusters, and never launch these

__global__ void softmax_clusters(heddle_rows_shape shape, const float *input, float *output)
{
}

template <bool logarithm>
__global__ void softmax_backward_clusters(heddle_rows_shape shape, const float *output, const float *grad_output,
                                          float *grad_input)
{
}

#endif

// The blocks per row; 0: there are none for rows that long, or rows do not begin at the same place in a vector.
template <typename Kernel> static int cluster_of(const heddle_call *call, Kernel kernel, bool aligned)
{
    const heddle_rows_shape *shape = (const heddle_rows_shape *)call->shape;
    int cluster = 1;
    while (cluster < MOST_CLUSTER && (long long)cluster * SLICE < (long long)shape->cols + HEDDLE_VECTOR)
        cluster *= 2;
    if (!aligned || (long long)cluster * SLICE < (long long)shape->cols + HEDDLE_VECTOR)
        return 0;
    if (cluster > 1)
        cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    return cluster == 1 || heddle_cuda_most_clusters(kernel, dim3(THREADS), cluster, 0) > 0 ? cluster : 0;
}

static heddle_status launch_forward(const heddle_call *call)
{
    const heddle_rows_shape *shape = (const heddle_rows_shape *)call->shape;
    const float *input = (const float *)call->input[0];
    float *output = (float *)call->output[0];
    auto kernel = softmax_clusters;
    if (shape->rows == 0 || shape->cols == 0)
        return HEDDLE_OK;
    const int cluster = cluster_of(call, kernel, heddle_aligned16(input) && heddle_aligned16(output));
    if (!cluster)
        return heddle_softmax_forward_vectorised(call);
    heddle_cuda_launch_clusters(kernel, dim3(shape->rows * cluster), dim3(THREADS), cluster, 0,
                                heddle_cuda_stream_of(call), *shape, input, output);
    return heddle_cuda_launched("05_clusters");
}

template <bool logarithm> static heddle_status launch_backward(const heddle_call *call)
{
    const heddle_rows_shape *shape = (const heddle_rows_shape *)call->shape;
    const float *output = (const float *)call->input[0], *grad_output = (const float *)call->input[1];
    float *grad_input = (float *)call->output[0];
    auto kernel = softmax_backward_clusters<logarithm>;
    if (shape->rows == 0 || shape->cols == 0)
        return HEDDLE_OK;
    const bool aligned = heddle_aligned16(output) && heddle_aligned16(grad_output) && heddle_aligned16(grad_input);
    const int cluster = cluster_of(call, kernel, aligned);
    if (!cluster)
        return logarithm ? heddle_log_softmax_backward_vectorised(call) : heddle_softmax_backward_vectorised(call);
    heddle_cuda_launch_clusters(kernel, dim3(shape->rows * cluster), dim3(THREADS), cluster, 0,
                                heddle_cuda_stream_of(call), *shape, output, grad_output, grad_input);
    return heddle_cuda_launched("05_clusters");
}

HEDDLE_CUDA_RUNG("softmax_forward", "05_clusters", launch_forward)
HEDDLE_CUDA_RUNG("softmax_backward", "05_clusters", launch_backward<false>)
HEDDLE_CUDA_RUNG("log_softmax_backward", "05_clusters", launch_backward<true>)
