// attention's reference in float64: plain loops, scores computed again where they are needed again.

#include <math.h>
#include <string.h>

#include "ops/attention/attention.h"

static double dot(const double *x, const double *y, int size)
{
    double sum = 0;
    for (int d = 0; d < size; d++)
        sum += x[d] * y[d];
    return sum;
}

// One query: q and output (size), k and v (keys, size) of its head.
static double forward_row(const heddle_attention_shape *shape, int visible, const double *q, const double *k,
                          const double *v, double *output)
{
    const int size = shape->size;
    const double scale = 1 / sqrt(size);
    double most = -INFINITY, sum = 0;
    for (int j = 0; j < visible; j++)
        most = fmax(most, scale * dot(q, k + (size_t)j * size, size));
    memset(output, 0, (size_t)size * sizeof *output);
    for (int j = 0; j < visible; j++) {
        double weight = exp(scale * dot(q, k + (size_t)j * size, size) - most);
        sum += weight;
        for (int d = 0; d < size; d++)
            output[d] += weight * v[(size_t)j * size + d];
    }
    for (int d = 0; d < size; d++)
        output[d] /= sum;
    return most + log(sum);
}

void heddle_attention_forward_reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_attention_shape *shape = shape_;
    const size_t queries = (size_t)shape->queries, keys = (size_t)shape->keys, size = (size_t)shape->size;
    for (size_t row = 0; row < (size_t)shape->batch * shape->heads * queries; row++) {
        const size_t head = row / queries;
        output[1][row] =
            forward_row(shape, heddle_attention_visible(shape, (int)(row % queries)), input[0] + row * size,
                        input[1] + head * keys * size, input[2] + head * keys * size, output[0] + row * size);
    }
}

// With p = exp(score - log_sum) and s = p (grad·v - grad·output) / sqrt(size): grad_q = Σ s k over keys, grad_k = Σ s q
// and grad_v = Σ p grad over queries.
void heddle_attention_backward_reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_attention_shape *shape = shape_;
    const size_t queries = (size_t)shape->queries, keys = (size_t)shape->keys, size = (size_t)shape->size;
    const size_t heads = (size_t)shape->batch * shape->heads;
    const double scale = 1 / sqrt(shape->size);
    memset(output[0], 0, heads * queries * size * sizeof(double));
    memset(output[1], 0, heads * keys * size * sizeof(double));
    memset(output[2], 0, heads * keys * size * sizeof(double));
    for (size_t row = 0; row < heads * queries; row++) {
        const double *q = input[0] + row * size, *grad = input[5] + row * size;
        const double mean = dot(grad, input[3] + row * size, shape->size);
        const int visible = heddle_attention_visible(shape, (int)(row % queries));
        for (int j = 0; j < visible; j++) {
            const size_t at = (row / queries * keys + (size_t)j) * size;
            const double *k = input[1] + at, *v = input[2] + at;
            double p = exp(scale * dot(q, k, shape->size) - input[4][row]);
            double s = scale * p * (dot(grad, v, shape->size) - mean);
            for (size_t d = 0; d < size; d++) {
                output[0][row * size + d] += s * k[d];
                output[1][at + d] += s * q[d];
                output[2][at + d] += p * grad[d];
            }
        }
    }
}
