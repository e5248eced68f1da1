// attention, rung 1: one thread per query. Backward: one thread per query for grad_q, one per key for the others.
//
// Softmax needs the largest score and the sum before it can weigh the first value, and no thread has room for a row of
// scores: it computes them three times. The largest is subtracted before exp, so that nothing overflows. In 16 bits the
// same kernel reads and writes shorter numbers: everything is computed in float32.
//
//     heddle bench attention_forward/01_naive
//
// Limited by: loads. Every score reads a row of k from global memory again, neighbouring threads read rows of q that
// are a whole row apart, and the sums of a row are in memory, too: an array is in registers only if all its indices are
// known when the kernel is compiled.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "ops/attention/attention.h"
#include "ops/cuda/rung.h"

typedef heddle_attention_shape attention_shape;

// Sum: the type that everything is computed in. x, y: (size)
template <typename Sum, typename Element> __device__ static Sum dot(const Element *x, const Element *y, int size)
{
    Sum sum = 0;
    for (int d = 0; d < size; d++)
        sum += (Sum)(float)x[d] * (Sum)(float)y[d];
    return sum;
}

// How many keys a query sees, from the first on.
__device__ static int visible_keys(const attention_shape &shape, int query)
{
    return shape.causal && query + 1 < shape.keys ? query + 1 : shape.keys;
}

// q, output: (batch, heads, queries, size); k, v: (batch, heads, keys, size); log_sums: (batch, heads, queries)
template <typename Sum, typename Element, typename Output, typename Log>
__global__ void attention_forward_naive(attention_shape shape, const Element *q, const Element *k, const Element *v,
                                        Output *output, Log *log_sums)
{
    const size_t row = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= (size_t)shape.batch * shape.heads * shape.queries)
        return;
    const int size = shape.size, visible = visible_keys(shape, (int)(row % shape.queries));
    const Sum scale = 1 / sqrt((Sum)size);
    q += row * size;
    k += row / shape.queries * shape.keys * size;
    v += row / shape.queries * shape.keys * size;
    Sum most = -INFINITY, sum = 0, sums[HEDDLE_ATTENTION_SIZE];
    for (int j = 0; j < visible; j++)
        most = fmax(most, scale * dot<Sum>(q, k + (size_t)j * size, size));
    for (int j = 0; j < visible; j++)
        sum += exp(scale * dot<Sum>(q, k + (size_t)j * size, size) - most);
    for (int d = 0; d < size; d++)
        sums[d] = 0;
    for (int j = 0; j < visible; j++) {
        Sum weight = exp(scale * dot<Sum>(q, k + (size_t)j * size, size) - most) / sum;
        for (int d = 0; d < size; d++)
            sums[d] += weight * (Sum)(float)v[(size_t)j * size + d];
    }
    for (int d = 0; d < size; d++)
        output[row * size + d] = (Output)sums[d];
    log_sums[row] = (Log)(most + log(sum));
}

// What a pair of a query and a key adds: p of grad_output to grad_v, s of k to grad_q and of q to grad_k.
template <typename Sum> struct attention_pair {
    Sum p, s;
};

// q, output, grad: (size) of the query; k, v: (size) of the key
template <typename Sum, typename Element>
__device__ static attention_pair<Sum> pair_of(const Element *q, const Element *k, const Element *v,
                                              const Element *output, const Element *grad, float log_sum, int size)
{
    const Sum scale = 1 / sqrt((Sum)size);
    attention_pair<Sum> pair;
    pair.p = exp(scale * dot<Sum>(q, k, size) - (Sum)log_sum);
    pair.s = scale * pair.p * (dot<Sum>(grad, v, size) - dot<Sum>(grad, output, size));
    return pair;
}

// As above; grad_output and grad_q as q
template <typename Sum, typename Element, typename Output>
__global__ void attention_grad_q_naive(attention_shape shape, const Element *q, const Element *k, const Element *v,
                                       const Element *output, const float *log_sums, const Element *grad_output,
                                       Output *grad_q)
{
    const size_t row = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= (size_t)shape.batch * shape.heads * shape.queries)
        return;
    const int size = shape.size, visible = visible_keys(shape, (int)(row % shape.queries));
    Sum sums[HEDDLE_ATTENTION_SIZE];
    for (int d = 0; d < size; d++)
        sums[d] = 0;
    for (int j = 0; j < visible; j++) {
        const size_t key = (row / shape.queries * shape.keys + j) * size;
        attention_pair<Sum> pair = pair_of<Sum>(q + row * size, k + key, v + key, output + row * size,
                                                grad_output + row * size, log_sums[row], size);
        for (int d = 0; d < size; d++)
            sums[d] += pair.s * (Sum)(float)k[key + d];
    }
    for (int d = 0; d < size; d++)
        grad_q[row * size + d] = (Output)sums[d];
}

template <typename Sum, typename Element, typename Output>
__global__ void attention_grad_kv_naive(attention_shape shape, const Element *q, const Element *k, const Element *v,
                                        const Element *output, const float *log_sums, const Element *grad_output,
                                        Output *grad_k, Output *grad_v)
{
    const size_t row = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= (size_t)shape.batch * shape.heads * shape.keys)
        return;
    const int size = shape.size, first = shape.causal ? (int)(row % shape.keys) : 0;
    Sum sums_k[HEDDLE_ATTENTION_SIZE], sums_v[HEDDLE_ATTENTION_SIZE];
    for (int d = 0; d < size; d++)
        sums_k[d] = sums_v[d] = 0;
    for (int i = first; i < shape.queries; i++) {
        const size_t query = row / shape.keys * shape.queries + i, at = query * size;
        attention_pair<Sum> pair =
            pair_of<Sum>(q + at, k + row * size, v + row * size, output + at, grad_output + at, log_sums[query], size);
        for (int d = 0; d < size; d++) {
            sums_k[d] += pair.s * (Sum)(float)q[at + d];
            sums_v[d] += pair.p * (Sum)(float)grad_output[at + d];
        }
    }
    for (int d = 0; d < size; d++) {
        grad_k[row * size + d] = (Output)sums_k[d];
        grad_v[row * size + d] = (Output)sums_v[d];
    }
}

template <typename Sum, typename Element, typename Output, typename Log>
static heddle_status launch_forward(const heddle_call *call)
{
    const attention_shape *shape = (const attention_shape *)call->shape;
    const unsigned blocks = heddle_cuda_blocks((size_t)shape->batch * shape->heads * shape->queries);
    if (blocks > 0)
        attention_forward_naive<Sum><<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            *shape, (const Element *)call->input[0], (const Element *)call->input[1], (const Element *)call->input[2],
            (Output *)call->output[0], (Log *)call->output[1]);
    return heddle_cuda_launched("01_naive");
}

template <typename Sum, typename Element, typename Output> static heddle_status launch_backward(const heddle_call *call)
{
    const attention_shape *shape = (const attention_shape *)call->shape;
    const size_t heads = (size_t)shape->batch * shape->heads;
    const unsigned queries = heddle_cuda_blocks(heads * shape->queries), keys = heddle_cuda_blocks(heads * shape->keys);
    const Element *q = (const Element *)call->input[0], *k = (const Element *)call->input[1];
    const Element *v = (const Element *)call->input[2], *output = (const Element *)call->input[3];
    const float *log_sums = (const float *)call->input[4];
    const Element *grad_output = (const Element *)call->input[5];
    cudaStream_t stream = heddle_cuda_stream_of(call);
    if (queries > 0)
        attention_grad_q_naive<Sum><<<queries, HEDDLE_CUDA_BLOCK, 0, stream>>>(*shape, q, k, v, output, log_sums,
                                                                               grad_output, (Output *)call->output[0]);
    if (keys > 0)
        attention_grad_kv_naive<Sum><<<keys, HEDDLE_CUDA_BLOCK, 0, stream>>>(
            *shape, q, k, v, output, log_sums, grad_output, (Output *)call->output[1], (Output *)call->output[2]);
    return heddle_cuda_launched("01_naive");
}

HEDDLE_CUDA_RUNG("attention_forward", "01_naive", (launch_forward<float, float, float, float>))
HEDDLE_CUDA_RUNG("attention_backward", "01_naive", (launch_backward<float, float, float>))
HEDDLE_CUDA_REFERENCE("attention_forward", (launch_forward<double, float, double, double>))
HEDDLE_CUDA_REFERENCE("attention_backward", (launch_backward<double, float, double>))

HEDDLE_CUDA_RUNG("attention_bf16_forward", "01_naive", (launch_forward<float, __nv_bfloat16, __nv_bfloat16, float>))
HEDDLE_CUDA_RUNG("attention_bf16_backward", "01_naive", (launch_backward<float, __nv_bfloat16, __nv_bfloat16>))
HEDDLE_CUDA_REFERENCE("attention_bf16_forward", (launch_forward<double, __nv_bfloat16, double, double>))
HEDDLE_CUDA_REFERENCE("attention_bf16_backward", (launch_backward<double, __nv_bfloat16, double>))

HEDDLE_CUDA_RUNG("attention_fp16_forward", "01_naive", (launch_forward<float, __half, __half, float>))
HEDDLE_CUDA_RUNG("attention_fp16_backward", "01_naive", (launch_backward<float, __half, __half>))
HEDDLE_CUDA_REFERENCE("attention_fp16_forward", (launch_forward<double, __half, double, double>))
HEDDLE_CUDA_REFERENCE("attention_fp16_backward", (launch_backward<double, __half, double>))
