// attention, second rung: rows spread over the threads, vectors along each row.
//
// A query's scores are kept, one row of them per thread, so that they are computed once and exp takes vectors of them.
// Everything is then one of two loops: the products of one row with many, and the sum of many rows, each times a
// number. Backward goes over the queries for grad_q and over the keys for grad_k and grad_v: scores are computed twice,
// but no two threads write to the same row, and the sums have one order.
//
// Limited by: the caches. K and V are read again for each query; a tile of queries would read them once.

#include <math.h>
#include <string.h>

#include "ops/attention/attention.h"
#include "ops/clones.h"
#include "ops/define.h"
#include "ops/pieces.h"
#include "ops/rows.h"

enum { LANES = 16, PIECE = 8 }; // floats per step of a product; rows per piece

// products[j] = scale * x (size) · row j of `rows` (count, size)
HEDDLE_CLONES static void multiply_rows(const float *restrict x, const float *restrict rows, int count, int size,
                                        float scale, float *restrict products)
{
    for (int j = 0; j < count; j++, rows += size) {
        float lanes[LANES] = {0}, sum = 0;
        int d = 0;
        for (; d + LANES <= size; d += LANES)
            for (int lane = 0; lane < LANES; lane++)
                lanes[lane] += x[d + lane] * rows[d + lane];
        for (; d < size; d++)
            sum += x[d] * rows[d];
        for (int lane = 0; lane < LANES; lane++)
            sum += lanes[lane];
        products[j] = scale * sum;
    }
}

// sum (size) = Σ weights[j] * row j of `rows` (count, size)
HEDDLE_CLONES static void add_rows(const float *restrict weights, const float *restrict rows, int count, int size,
                                   float *restrict sum)
{
    memset(sum, 0, (size_t)size * sizeof *sum);
    for (int j = 0; j < count; j++, rows += size)
        for (int d = 0; d < size; d++)
            sum[d] += weights[j] * rows[d];
}

// scores become exp(score - largest); returns their sum.
HEDDLE_CLONES static double exponentials(float *scores, int count, float most)
{
    for (int j = 0; j < count; j++)
        scores[j] = heddle_exp(scores[j] - most);
    return heddle_sum(scores, (size_t)count);
}

// scores become p = exp(score - log_sum), products become s = scale * p * (product - mean). One of log_sum and mean is
// there for each element (by_element), or one for all.
HEDDLE_CLONES static void slopes(float *restrict scores, float *restrict products, int count, const float *log_sum,
                                 const float *mean, bool by_element, float scale)
{
    for (int j = 0; j < count; j++) {
        scores[j] = heddle_exp(scores[j] - log_sum[by_element ? j : 0]);
        products[j] = scale * scores[j] * (products[j] - mean[by_element ? j : 0]);
    }
}

// --- forward ---------------------------------------------------------------------------------------------------------

size_t heddle_attention_forward_cpu_rows_workspace(const void *shape_, int threads)
{
    const heddle_attention_shape *shape = shape_;
    return (size_t)threads * (size_t)shape->keys * sizeof(float);
}

static void forward_rows(void *context, size_t begin, size_t end, int piece, int worker)
{
    (void)piece;
    const heddle_call *call = context;
    const heddle_attention_shape *shape = call->shape;
    const size_t queries = (size_t)shape->queries, keys = (size_t)shape->keys, size = (size_t)shape->size;
    const float scale = 1 / sqrtf((float)shape->size);
    float *scores = (float *)call->workspace + (size_t)worker * keys;
    for (size_t row = begin; row < end; row++) {
        const size_t head = row / queries * keys * size;
        const int visible = heddle_attention_visible(shape, (int)(row % queries));
        float *output = (float *)call->output[0] + row * size;
        multiply_rows((const float *)call->input[0] + row * size, (const float *)call->input[1] + head, visible,
                      shape->size, scale, scores);
        float most = heddle_row_max(scores, (size_t)visible);
        double sum = exponentials(scores, visible, most);
        add_rows(scores, (const float *)call->input[2] + head, visible, shape->size, output);
        for (size_t d = 0; d < size; d++)
            output[d] *= (float)(1 / sum);
        ((float *)call->output[1])[row] = (float)(most + log(sum));
    }
}

heddle_status heddle_attention_forward_cpu_rows(const heddle_call *call)
{
    const heddle_attention_shape *shape = call->shape;
    heddle_pieces_run(call->pool, (size_t)shape->batch * shape->heads * shape->queries, PIECE, forward_rows,
                      (void *)call);
    return HEDDLE_OK;
}

// --- backward --------------------------------------------------------------------------------------------------------

// The workspace: grad_output · output of each query, then two rows of scores for each thread.
static size_t longest_row(const heddle_attention_shape *shape)
{
    return (size_t)(shape->keys > shape->queries ? shape->keys : shape->queries);
}

size_t heddle_attention_backward_cpu_rows_workspace(const void *shape_, int threads)
{
    const heddle_attention_shape *shape = shape_;
    return ((size_t)shape->batch * shape->heads * shape->queries + 2 * (size_t)threads * longest_row(shape)) *
           sizeof(float);
}

static float *rows_of_worker(const heddle_call *call, int worker)
{
    const heddle_attention_shape *shape = call->shape;
    return (float *)call->workspace + (size_t)shape->batch * shape->heads * shape->queries +
           2 * (size_t)worker * longest_row(shape);
}

static void backward_queries(void *context, size_t begin, size_t end, int piece, int worker)
{
    (void)piece;
    const heddle_call *call = context;
    const heddle_attention_shape *shape = call->shape;
    const size_t queries = (size_t)shape->queries, keys = (size_t)shape->keys, size = (size_t)shape->size;
    const float scale = 1 / sqrtf((float)shape->size);
    float *means = call->workspace, *scores = rows_of_worker(call, worker), *products = scores + longest_row(shape);
    for (size_t row = begin; row < end; row++) {
        const size_t head = row / queries * keys * size;
        const int visible = heddle_attention_visible(shape, (int)(row % queries));
        const float *k = (const float *)call->input[1] + head, *v = (const float *)call->input[2] + head;
        const float *grad = (const float *)call->input[5] + row * size;
        multiply_rows(grad, (const float *)call->input[3] + row * size, 1, shape->size, 1, &means[row]);
        multiply_rows((const float *)call->input[0] + row * size, k, visible, shape->size, scale, scores);
        multiply_rows(grad, v, visible, shape->size, 1, products);
        slopes(scores, products, visible, (const float *)call->input[4] + row, &means[row], false, scale);
        add_rows(products, k, visible, shape->size, (float *)call->output[0] + row * size);
    }
}

static void backward_keys(void *context, size_t begin, size_t end, int piece, int worker)
{
    (void)piece;
    const heddle_call *call = context;
    const heddle_attention_shape *shape = call->shape;
    const size_t queries = (size_t)shape->queries, keys = (size_t)shape->keys, size = (size_t)shape->size;
    const float scale = 1 / sqrtf((float)shape->size);
    float *scores = rows_of_worker(call, worker), *products = scores + longest_row(shape);
    for (size_t row = begin; row < end; row++) {
        size_t first = shape->causal ? row % keys : 0; // the first query that sees this key
        first = first < queries ? first : queries;
        const size_t from = row / keys * queries + first;
        const int count = (int)(queries - first);
        const float *q = (const float *)call->input[0] + from * size;
        const float *grad = (const float *)call->input[5] + from * size;
        multiply_rows((const float *)call->input[1] + row * size, q, count, shape->size, scale, scores);
        multiply_rows((const float *)call->input[2] + row * size, grad, count, shape->size, 1, products);
        slopes(scores, products, count, (const float *)call->input[4] + from, (const float *)call->workspace + from,
               true, scale);
        add_rows(products, q, count, shape->size, (float *)call->output[1] + row * size);
        add_rows(scores, grad, count, shape->size, (float *)call->output[2] + row * size);
    }
}

heddle_status heddle_attention_backward_cpu_rows(const heddle_call *call)
{
    const heddle_attention_shape *shape = call->shape;
    const size_t heads = (size_t)shape->batch * shape->heads;
    heddle_pieces_run(call->pool, heads * shape->queries, PIECE, backward_queries, (void *)call);
    heddle_pieces_run(call->pool, heads * shape->keys, PIECE, backward_keys, (void *)call);
    return HEDDLE_OK;
}
