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

#include "ops/attention/attention_cuda.h"
#include "ops/cuda/rung.h"

typedef heddle_attention_shape attention_shape;

// x, y: (size)
template <typename Element> __device__ static float dot(const Element *x, const Element *y, int size)
{
    float sum = 0;
    for (int d = 0; d < size; d++)
        sum += (float)x[d] * (float)y[d];
    return sum;
}

// q, output: (batch, heads, queries, size); k, v: (batch, heads, keys, size); log_sums: (batch, heads, queries)
template <typename Element>
__global__ void attention_forward_naive(attention_shape shape, const Element *q, const Element *k, const Element *v,
                                        Element *output, float *log_sums)
{
    const size_t row = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= (size_t)shape.batch * shape.heads * shape.queries)
        return;
    const int size = shape.size, visible = attention_seen(shape, (int)(row % shape.queries));
    const float scale = 1 / sqrtf((float)size);
    q += row * size;
    k += row / shape.queries * shape.keys * size;
    v += row / shape.queries * shape.keys * size;
    float most = -INFINITY, sum = 0, sums[HEDDLE_ATTENTION_SIZE];
    for (int j = 0; j < visible; j++)
        most = fmaxf(most, scale * dot(q, k + (size_t)j * size, size));
    for (int j = 0; j < visible; j++)
        sum += expf(scale * dot(q, k + (size_t)j * size, size) - most);
    for (int d = 0; d < size; d++)
        sums[d] = 0;
    for (int j = 0; j < visible; j++) {
        float weight = expf(scale * dot(q, k + (size_t)j * size, size) - most) / sum;
        for (int d = 0; d < size; d++)
            sums[d] += weight * (float)v[(size_t)j * size + d];
    }
    for (int d = 0; d < size; d++)
        output[row * size + d] = (Element)sums[d];
    log_sums[row] = most + logf(sum);
}

// What a pair of a query and a key adds: p of grad_output to grad_v, s of k to grad_q and of q to grad_k.
struct attention_pair {
    float p, s;
};

// q, output, grad: (size) of the query; k, v: (size) of the key
template <typename Element>
__device__ static attention_pair pair_of(const Element *q, const Element *k, const Element *v, const Element *output,
                                         const Element *grad, float log_sum, int size)
{
    const float scale = 1 / sqrtf((float)size);
    attention_pair pair;
    pair.p = expf(scale * dot(q, k, size) - log_sum);
    pair.s = scale * pair.p * (dot(grad, v, size) - dot(grad, output, size));
    return pair;
}

// As above; grad_output and grad_q as q
template <typename Element>
__global__ void attention_grad_q_naive(attention_shape shape, const Element *q, const Element *k, const Element *v,
                                       const Element *output, const float *log_sums, const Element *grad_output,
                                       Element *grad_q)
{
    const size_t row = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= (size_t)shape.batch * shape.heads * shape.queries)
        return;
    const int size = shape.size, visible = attention_seen(shape, (int)(row % shape.queries));
    float sums[HEDDLE_ATTENTION_SIZE];
    for (int d = 0; d < size; d++)
        sums[d] = 0;
    for (int j = 0; j < visible; j++) {
        const size_t key = (row / shape.queries * shape.keys + j) * size;
        attention_pair pair = pair_of(q + row * size, k + key, v + key, output + row * size, grad_output + row * size,
                                      log_sums[row], size);
        for (int d = 0; d < size; d++)
            sums[d] += pair.s * (float)k[key + d];
    }
    for (int d = 0; d < size; d++)
        grad_q[row * size + d] = (Element)sums[d];
}

template <typename Element>
__global__ void attention_grad_kv_naive(attention_shape shape, const Element *q, const Element *k, const Element *v,
                                        const Element *output, const float *log_sums, const Element *grad_output,
                                        Element *grad_k, Element *grad_v)
{
    const size_t row = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= (size_t)shape.batch * shape.heads * shape.keys)
        return;
    const int size = shape.size, first = shape.causal ? (int)(row % shape.keys) : 0;
    float sums_k[HEDDLE_ATTENTION_SIZE], sums_v[HEDDLE_ATTENTION_SIZE];
    for (int d = 0; d < size; d++)
        sums_k[d] = sums_v[d] = 0;
    for (int i = first; i < shape.queries; i++) {
        const size_t query = row / shape.keys * shape.queries + i, at = query * size;
        attention_pair pair =
            pair_of(q + at, k + row * size, v + row * size, output + at, grad_output + at, log_sums[query], size);
        for (int d = 0; d < size; d++) {
            sums_k[d] += pair.s * (float)q[at + d];
            sums_v[d] += pair.p * (float)grad_output[at + d];
        }
    }
    for (int d = 0; d < size; d++) {
        grad_k[row * size + d] = (Element)sums_k[d];
        grad_v[row * size + d] = (Element)sums_v[d];
    }
}

template <typename Element> static heddle_status launch_forward(const heddle_call *call)
{
    const attention_shape *shape = (const attention_shape *)call->shape;
    const unsigned blocks = heddle_cuda_blocks((size_t)shape->batch * shape->heads * shape->queries);
    if (blocks > 0)
        attention_forward_naive<<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            *shape, (const Element *)call->input[0], (const Element *)call->input[1], (const Element *)call->input[2],
            (Element *)call->output[0], (float *)call->output[1]);
    return heddle_cuda_launched("01_naive");
}

template <typename Element> static heddle_status launch_backward(const heddle_call *call)
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
        attention_grad_q_naive<<<queries, HEDDLE_CUDA_BLOCK, 0, stream>>>(*shape, q, k, v, output, log_sums,
                                                                          grad_output, (Element *)call->output[0]);
    if (keys > 0)
        attention_grad_kv_naive<<<keys, HEDDLE_CUDA_BLOCK, 0, stream>>>(
            *shape, q, k, v, output, log_sums, grad_output, (Element *)call->output[1], (Element *)call->output[2]);
    return heddle_cuda_launched("01_naive");
}

HEDDLE_CUDA_RUNG("attention_forward", "01_naive", launch_forward<float>)
HEDDLE_CUDA_RUNG("attention_backward", "01_naive", launch_backward<float>)

HEDDLE_CUDA_RUNG("attention_bf16_forward", "01_naive", launch_forward<__nv_bfloat16>)
HEDDLE_CUDA_RUNG("attention_bf16_backward", "01_naive", launch_backward<__nv_bfloat16>)

HEDDLE_CUDA_RUNG("attention_fp16_forward", "01_naive", launch_forward<__half>)
HEDDLE_CUDA_RUNG("attention_fp16_backward", "01_naive", launch_backward<__half>)
