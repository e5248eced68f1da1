// attention, first rung: one query at a time, one key at a time, one thread. Backward: one query at a time for grad_q,
// one key at a time for the others. In 16 bits a row becomes floats when it is read.
//
// The largest score is subtracted before exp, so that nothing overflows. Nothing as large as the scores is stored: they
// are computed twice, once for their largest and once for the sums.
//
// Limited by: one product at a time, and one call of exp per score. cpu_rows takes vectors of both, and all threads.

#include <math.h>
#include <string.h>

#include "base/float16.h"
#include "ops/attention/attention.h"

typedef float head_row[HEDDLE_ATTENTION_SIZE];

// Row `row` of a matrix with rows of `size` numbers.
static void read_row(heddle_dtype dtype, const void *matrix, size_t row, int size, head_row to)
{
    for (int d = 0; d < size; d++) {
        const size_t at = row * (size_t)size + (size_t)d;
        to[d] = dtype == HEDDLE_F32    ? ((const float *)matrix)[at]
                : dtype == HEDDLE_BF16 ? heddle_bf16_decode(((const uint16_t *)matrix)[at])
                                       : (float)heddle_f16_decode(((const uint16_t *)matrix)[at]);
    }
}

static void write_row(heddle_dtype dtype, void *matrix, size_t row, int size, const head_row from, float factor)
{
    for (int d = 0; d < size; d++) {
        const size_t at = row * (size_t)size + (size_t)d;
        if (dtype == HEDDLE_F32)
            ((float *)matrix)[at] = from[d] * factor;
        else
            ((uint16_t *)matrix)[at] =
                dtype == HEDDLE_BF16 ? heddle_bf16_encode(from[d] * factor) : heddle_f16_encode(from[d] * factor);
    }
}

static float dot(const head_row x, const head_row y, int size)
{
    float sum = 0;
    for (int d = 0; d < size; d++)
        sum += x[d] * y[d];
    return sum;
}

static void add(head_row sums, float weight, const head_row x, int size)
{
    for (int d = 0; d < size; d++)
        sums[d] += weight * x[d];
}

static heddle_status forward(const heddle_call *call, heddle_dtype dtype)
{
    const heddle_attention_shape *shape = call->shape;
    const int size = shape->size;
    const float scale = 1 / sqrtf((float)size);
    for (size_t row = 0; row < (size_t)shape->batch * shape->heads * shape->queries; row++) {
        const size_t first = row / shape->queries * shape->keys; // key of the head
        const int visible = heddle_attention_visible(shape, (int)(row % shape->queries));
        head_row q, k, v, sums = {0};
        float most = -INFINITY, sum = 0;
        read_row(dtype, call->input[0], row, size, q);
        for (int j = 0; j < visible; j++) {
            read_row(dtype, call->input[1], first + (size_t)j, size, k);
            most = fmaxf(most, scale * dot(q, k, size));
        }
        for (int j = 0; j < visible; j++) {
            read_row(dtype, call->input[1], first + (size_t)j, size, k);
            read_row(dtype, call->input[2], first + (size_t)j, size, v);
            float weight = expf(scale * dot(q, k, size) - most);
            sum += weight;
            add(sums, weight, v, size);
        }
        write_row(dtype, call->output[0], row, size, sums, 1 / sum);
        ((float *)call->output[1])[row] = sum == 0 ? -INFINITY : most + logf(sum);
    }
    return HEDDLE_OK;
}

// What a query and a key add: p of grad_output to grad_v, s of k to grad_q and of q to grad_k.
typedef struct attention_pair {
    float p, s;
} attention_pair;

typedef struct query_rows {
    head_row q, grad;
    float mean, log_sum; // mean: grad_output · output
} query_rows;

static void read_query(const heddle_call *call, heddle_dtype dtype, size_t row, query_rows *to)
{
    const heddle_attention_shape *shape = call->shape;
    head_row output;
    read_row(dtype, call->input[0], row, shape->size, to->q);
    read_row(dtype, call->input[3], row, shape->size, output);
    read_row(dtype, call->input[5], row, shape->size, to->grad);
    to->mean = dot(to->grad, output, shape->size);
    to->log_sum = ((const float *)call->input[4])[row];
}

static attention_pair pair_of(const query_rows *query, const head_row k, const head_row v, int size)
{
    const float scale = 1 / sqrtf((float)size), p = expf(scale * dot(query->q, k, size) - query->log_sum);
    return (attention_pair){.p = p, .s = scale * p * (dot(query->grad, v, size) - query->mean)};
}

static heddle_status backward(const heddle_call *call, heddle_dtype dtype)
{
    const heddle_attention_shape *shape = call->shape;
    const int size = shape->size;
    const size_t heads = (size_t)shape->batch * shape->heads, queries = (size_t)shape->queries;
    const size_t keys = (size_t)shape->keys;
    query_rows query;
    head_row k, v;
    for (size_t row = 0; row < heads * queries; row++) {
        head_row sums = {0};
        read_query(call, dtype, row, &query);
        for (int j = 0; j < heddle_attention_visible(shape, (int)(row % queries)); j++) {
            read_row(dtype, call->input[1], row / queries * keys + (size_t)j, size, k);
            read_row(dtype, call->input[2], row / queries * keys + (size_t)j, size, v);
            add(sums, pair_of(&query, k, v, size).s, k, size);
        }
        write_row(dtype, call->output[0], row, size, sums, 1);
    }
    for (size_t row = 0; row < heads * keys; row++) {
        head_row sums_k = {0}, sums_v = {0};
        read_row(dtype, call->input[1], row, size, k);
        read_row(dtype, call->input[2], row, size, v);
        for (size_t i = shape->causal ? row % keys : 0; i < queries; i++) {
            read_query(call, dtype, row / keys * queries + i, &query);
            attention_pair pair = pair_of(&query, k, v, size);
            add(sums_k, pair.s, query.q, size);
            add(sums_v, pair.p, query.grad, size);
        }
        write_row(dtype, call->output[1], row, size, sums_k, 1);
        write_row(dtype, call->output[2], row, size, sums_v, 1);
    }
    return HEDDLE_OK;
}

heddle_status heddle_attention_forward_cpu_naive(const heddle_call *call)
{
    return forward(call, HEDDLE_F32);
}

heddle_status heddle_attention_backward_cpu_naive(const heddle_call *call)
{
    return backward(call, HEDDLE_F32);
}

heddle_status heddle_attention_bf16_forward_cpu_naive(const heddle_call *call)
{
    return forward(call, HEDDLE_BF16);
}

heddle_status heddle_attention_bf16_backward_cpu_naive(const heddle_call *call)
{
    return backward(call, HEDDLE_BF16);
}

heddle_status heddle_attention_fp16_forward_cpu_naive(const heddle_call *call)
{
    return forward(call, HEDDLE_F16);
}

heddle_status heddle_attention_fp16_backward_cpu_naive(const heddle_call *call)
{
    return backward(call, HEDDLE_F16);
}
