// attention's float64 reference as kernels, for benchmark shapes that would take minutes on a CPU. A block has one
// query, or one key, and a warp computes a score: its lanes read neighbouring numbers of both rows.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "ops/attention/attention_cuda.h"
#include "ops/cuda/rung.h"

typedef heddle_attention_shape attention_shape;

enum {
    WARP = 32,
    THREADS = 256,
    WARPS = THREADS / WARP,
    CHUNK = 256, // keys, or queries, whose weights are in shared memory at a time
};
static_assert(2 * HEDDLE_ATTENTION_SIZE <= THREADS, "half a block has a thread for each number of a head");

// x, y: (size); the same for all lanes
template <typename Element> __device__ static double dot_by_warp(const Element *x, const Element *y, int size)
{
    double sum = 0;
    for (int d = (int)threadIdx.x % WARP; d < size; d += WARP)
        sum += (double)(float)x[d] * (double)(float)y[d];
    for (int distance = WARP / 2; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(~0u, sum, distance);
    return sum;
}

// The sum of weight[i] * rows[i][d] over `count` rows.
template <typename Element>
__device__ static double weigh(const double *weight, const Element *rows, int count, int size, int d)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += weight[i] * (double)(float)rows[(size_t)i * size + d];
    return sum;
}

// Where the keys of a query's head begin, or the queries of a key's.
__device__ static size_t head_of(size_t row, int rows, int others, int size)
{
    return row / rows * others * size;
}

// The largest score and the sum of exp(score - largest): of a warp's keys in `most` and `sum`, then of the block's.
__device__ static void merge_warps(double *most, double *sum)
{
    __shared__ double of_warp[2][WARPS];
    if (threadIdx.x % WARP == 0) {
        of_warp[0][threadIdx.x / WARP] = *most;
        of_warp[1][threadIdx.x / WARP] = *sum;
    }
    __syncthreads();
    *sum = 0;
    for (int w = 0; w < WARPS; w++)
        *most = fmax(*most, of_warp[0][w]);
    for (int w = 0; w < WARPS; w++)
        *sum += of_warp[1][w] > 0 ? of_warp[1][w] * exp(of_warp[0][w] - *most) : 0;
}

// q: (batch, heads, queries, size); k, v: (batch, heads, keys, size); output: as q; log_sums: (batch, heads, queries)
template <typename Element>
__global__ void __launch_bounds__(THREADS)
    attention_reference(attention_shape shape, const Element *q, const Element *k, const Element *v, double *output,
                        double *log_sums)
{
    __shared__ double weight[CHUNK];
    const size_t row = blockIdx.x, head = head_of(row, shape.queries, shape.keys, shape.size);
    const int size = shape.size, visible = attention_seen(shape, (int)(row % shape.queries)), warp = threadIdx.x / WARP;
    const bool leads = threadIdx.x % WARP == 0;
    const double scale = 1 / sqrt((double)size);
    double most = -INFINITY, sum = 0, value = 0;
    for (int j = warp; j < visible; j += WARPS) {
        const double score = scale * dot_by_warp(q + row * size, k + head + (size_t)j * size, size);
        const double before = most;
        most = fmax(most, score);
        sum = sum * exp(before - most) + exp(score - most);
    }
    merge_warps(&most, &sum);
    for (int first = 0; first < visible; first += CHUNK) {
        const int count = min((int)CHUNK, visible - first);
        const size_t from = head + (size_t)first * size;
        for (int j = warp; j < count; j += WARPS) {
            const double score = scale * dot_by_warp(q + row * size, k + from + (size_t)j * size, size);
            if (leads)
                weight[j] = exp(score - most);
        }
        __syncthreads();
        if ((int)threadIdx.x < size)
            value += weigh(weight, v + from, count, size, threadIdx.x);
        __syncthreads();
    }
    if ((int)threadIdx.x < size)
        output[row * size + threadIdx.x] = value / sum;
    if (threadIdx.x == 0)
        log_sums[row] = most + log(sum);
}

// With p = exp(score - log_sum) and s = p (grad·v - grad·output) / sqrt(size): grad_q = Σ s k over keys.
template <typename Element>
__global__ void __launch_bounds__(THREADS)
    attention_grad_q_reference(attention_shape shape, const Element *q, const Element *k, const Element *v,
                               const Element *output, const float *log_sums, const Element *grad_output, double *grad_q)
{
    __shared__ double weight[CHUNK];
    const size_t row = blockIdx.x, head = head_of(row, shape.queries, shape.keys, shape.size);
    const int size = shape.size, visible = attention_seen(shape, (int)(row % shape.queries)), warp = threadIdx.x / WARP;
    const bool leads = threadIdx.x % WARP == 0;
    const Element *grad = grad_output + row * size;
    const double scale = 1 / sqrt((double)size), mean = dot_by_warp(grad, output + row * size, size);
    double value = 0;
    for (int first = 0; first < visible; first += CHUNK) {
        const int count = min((int)CHUNK, visible - first);
        const size_t from = head + (size_t)first * size;
        for (int j = warp; j < count; j += WARPS) {
            const size_t key = from + (size_t)j * size;
            const double p = exp(scale * dot_by_warp(q + row * size, k + key, size) - (double)log_sums[row]);
            const double s = scale * p * (dot_by_warp(grad, v + key, size) - mean);
            if (leads)
                weight[j] = s;
        }
        __syncthreads();
        if ((int)threadIdx.x < size)
            value += weigh(weight, k + from, count, size, threadIdx.x);
        __syncthreads();
    }
    if ((int)threadIdx.x < size)
        grad_q[row * size + threadIdx.x] = value;
}

// grad_k = Σ s q and grad_v = Σ p grad over queries: the first half of the block has the one, the second the other.
template <typename Element>
__global__ void __launch_bounds__(THREADS)
    attention_grad_kv_reference(attention_shape shape, const Element *q, const Element *k, const Element *v,
                                const Element *output, const float *log_sums, const Element *grad_output,
                                double *grad_k, double *grad_v)
{
    __shared__ double weight[2][CHUNK];
    const size_t row = blockIdx.x, head = head_of(row, shape.keys, shape.queries, shape.size);
    const int size = shape.size, key = (int)(row % shape.keys), warp = threadIdx.x / WARP;
    const int half = (int)threadIdx.x / (THREADS / 2), d = (int)threadIdx.x % (THREADS / 2);
    const double scale = 1 / sqrt((double)size);
    const float *logs = log_sums + row / shape.keys * shape.queries;
    double value = 0;
    for (int first = shape.causal ? key : 0; first < shape.queries; first += CHUNK) { // those before do not see the key
        const int count = min((int)CHUNK, shape.queries - first);
        const size_t from = head + (size_t)first * size;
        for (int i = warp; i < count; i += WARPS) {
            const size_t query = from + (size_t)i * size;
            const double p = exp(scale * dot_by_warp(q + query, k + row * size, size) - (double)logs[first + i]);
            const double mean = dot_by_warp(grad_output + query, output + query, size);
            const double s = scale * p * (dot_by_warp(grad_output + query, v + row * size, size) - mean);
            if (threadIdx.x % WARP == 0) {
                weight[0][i] = s;
                weight[1][i] = p;
            }
        }
        __syncthreads();
        if (d < size)
            value += weigh(weight[half], (half == 0 ? q : grad_output) + from, count, size, d);
        __syncthreads();
    }
    if (d < size)
        (half == 0 ? grad_k : grad_v)[row * size + d] = value;
}

template <typename Element> static heddle_status launch_forward(const heddle_call *call)
{
    const attention_shape *shape = (const attention_shape *)call->shape;
    const unsigned queries = (unsigned)shape->batch * shape->heads * shape->queries;
    cudaStream_t stream = heddle_cuda_stream_of(call);
    if (queries > 0)
        attention_reference<<<queries, THREADS, 0, stream>>>(
            *shape, (const Element *)call->input[0], (const Element *)call->input[1], (const Element *)call->input[2],
            (double *)call->output[0], (double *)call->output[1]);
    return heddle_cuda_launched("reference");
}

template <typename Element> static heddle_status launch_backward(const heddle_call *call)
{
    const attention_shape *shape = (const attention_shape *)call->shape;
    const unsigned heads = (unsigned)shape->batch * shape->heads;
    const Element *q = (const Element *)call->input[0], *k = (const Element *)call->input[1];
    const Element *v = (const Element *)call->input[2], *output = (const Element *)call->input[3];
    const float *log_sums = (const float *)call->input[4];
    const Element *grad_output = (const Element *)call->input[5];
    cudaStream_t stream = heddle_cuda_stream_of(call);
    if (heads * shape->queries > 0)
        attention_grad_q_reference<<<heads * shape->queries, THREADS, 0, stream>>>(
            *shape, q, k, v, output, log_sums, grad_output, (double *)call->output[0]);
    if (heads * shape->keys > 0)
        attention_grad_kv_reference<<<heads * shape->keys, THREADS, 0, stream>>>(
            *shape, q, k, v, output, log_sums, grad_output, (double *)call->output[1], (double *)call->output[2]);
    return heddle_cuda_launched("reference");
}

HEDDLE_CUDA_REFERENCE("attention_forward", launch_forward<float>)
HEDDLE_CUDA_REFERENCE("attention_backward", launch_backward<float>)
HEDDLE_CUDA_REFERENCE("attention_bf16_forward", launch_forward<__nv_bfloat16>)
HEDDLE_CUDA_REFERENCE("attention_bf16_backward", launch_backward<__nv_bfloat16>)
HEDDLE_CUDA_REFERENCE("attention_fp16_forward", launch_forward<__half>)
HEDDLE_CUDA_REFERENCE("attention_fp16_backward", launch_backward<__half>)
