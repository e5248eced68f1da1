// Makes linear layers of ONNX nodes: a product with a stored matrix, the sum behind it, and a normalisation of
// features, which heddle has no layer for but a linear layer can take in.

#include "nn/onnx_linear.h"

#include <math.h>
#include <string.h>

heddle_status heddle_onnx_read_norm(const heddle_onnx_reader *reader, const heddle_onnx_node *node, size_t channels,
                                    const heddle_onnx_tensor *parts[4], float *epsilon)
{
    int64_t training;
    HEDDLE_TRY(heddle_onnx_int(reader, node, "training_mode", 0, &training));
    HEDDLE_TRY(heddle_onnx_real(reader, node, "epsilon", 1e-5F, epsilon));
    if (training)
        return heddle_onnx_refuse(reader, node, HEDDLE_UNSUPPORTED,
                                  "exported for training; call model.eval() before exporting");
    for (int i = 0; i < 4; i++) {
        HEDDLE_TRY(heddle_onnx_stored(reader, node, i + 1, false, &parts[i]));
        if (parts[i]->elements != channels)
            return heddle_onnx_refuse(reader, node, HEDDLE_CORRUPT, "damaged: %zu numbers for %zu channels",
                                      parts[i]->elements, channels);
    }
    const float *variance = parts[3]->data;
    for (size_t i = 0; i < channels; i++)
        if (variance[i] < 0)
            return heddle_onnx_refuse(reader, node, HEDDLE_CORRUPT, "damaged: a variance of %g", (double)variance[i]);
    return HEDDLE_OK;
}

// A linear layer that is being put together.
typedef struct product {
    size_t rows, columns; // of the weight (features, inputs)
    const float *weight, *bias;
} product;

static heddle_status turn(heddle_onnx_reader *reader, const heddle_onnx_tensor *matrix, product *made)
{
    float *weight = heddle_onnx_copy(reader, matrix->elements);
    if (!weight)
        return HEDDLE_UNSUPPORTED;
    for (size_t i = 0; i < matrix->elements; i++)
        weight[i % made->rows * made->columns + i / made->rows] = ((const float *)matrix->data)[i];
    made->weight = weight;
    return HEDDLE_OK;
}

static heddle_status check_gemm(const heddle_onnx_reader *reader, const heddle_onnx_node *node)
{
    int64_t turned;
    float alpha, beta;
    HEDDLE_TRY(heddle_onnx_int(reader, node, "transA", 0, &turned));
    HEDDLE_TRY(heddle_onnx_real(reader, node, "alpha", 1, &alpha));
    HEDDLE_TRY(heddle_onnx_real(reader, node, "beta", 1, &beta));
    if (turned || alpha != 1 || beta != 1)
        return heddle_onnx_refuse(reader, node, HEDDLE_UNSUPPORTED,
                                  "transA, alpha or beta is set; a linear layer has transA 0, alpha 1 and beta 1");
    return HEDDLE_OK;
}

// A row of numbers to add: (features), or (1, features).
static bool is_row(const heddle_onnx_tensor *tensor, size_t features)
{
    return tensor && tensor->type == HEDDLE_ONNX_FLOAT && tensor->elements == features && tensor->rank >= 1 &&
           tensor->rank <= 2 && tensor->dims[tensor->rank - 1] == (int64_t)features;
}

static heddle_status read_product(heddle_onnx_reader *reader, const heddle_onnx_node *node,
                                  const heddle_onnx_layers *layers, product *made)
{
    const bool gemm = heddle_onnx_is(node, "Gemm");
    const heddle_onnx_tensor *matrix, *bias = NULL;
    int64_t turned = 0;
    if (gemm) {
        HEDDLE_TRY(check_gemm(reader, node));
        HEDDLE_TRY(heddle_onnx_int(reader, node, "transB", 0, &turned));
        HEDDLE_TRY(heddle_onnx_stored(reader, node, 2, true, &bias));
    }
    HEDDLE_TRY(heddle_onnx_stored(reader, node, 1, false, &matrix));
    if (matrix->rank != 2 || layers->sample.rank != 1 || layers->sample.keeps)
        return heddle_onnx_refuse(
            reader, node, HEDDLE_UNSUPPORTED,
            "not a product of features and a matrix; heddle's linear layer takes (batch, features)");
    made->rows = (size_t)matrix->dims[turned ? 0 : 1];
    made->columns = (size_t)matrix->dims[turned ? 1 : 0];
    made->weight = matrix->data;
    made->bias = bias ? bias->data : NULL;
    if (made->columns != (size_t)layers->sample.dims[0])
        return heddle_onnx_refuse(reader, node, HEDDLE_CORRUPT, "damaged: its matrix is for %zu features, it gets %d",
                                  made->columns, layers->sample.dims[0]);
    if (bias && !is_row(bias, made->rows))
        return heddle_onnx_refuse(reader, node, HEDDLE_UNSUPPORTED, "it adds %zu numbers to %zu features",
                                  bias->elements, made->rows);
    return turned ? HEDDLE_OK : turn(reader, matrix, made);
}

// The stored operand of an Add behind a product that has no sum yet; NULL: it is another node.
static const float *sum_behind(const heddle_onnx_reader *reader, int value, const product *made)
{
    const heddle_onnx_node *node = heddle_onnx_node_of(reader, value);
    if (made->bias || !heddle_onnx_is(node, "Add") || node->input_count != 2)
        return NULL;
    for (int i = 0; i < 2; i++) {
        const heddle_onnx_tensor *stored = node->inputs[i] < 0 ? NULL : reader->graph->values[node->inputs[i]].constant;
        if (is_row(stored, made->rows))
            return stored->data;
    }
    return NULL;
}

// (w x + b - mean) scale + shift, as w' x + b'
static heddle_status fold_norm(heddle_onnx_reader *reader, const heddle_onnx_node *node, product *made)
{
    const heddle_onnx_tensor *parts[4] = {NULL};
    float epsilon = 0;
    HEDDLE_TRY(heddle_onnx_read_norm(reader, node, made->rows, parts, &epsilon));
    if (!parts[0] || !parts[1] || !parts[2] || !parts[3])
        return heddle_fail(HEDDLE_INTERNAL, "a normalisation without numbers");
    float *weight = heddle_onnx_copy(reader, made->rows * made->columns);
    float *bias = weight ? heddle_onnx_copy(reader, made->rows) : NULL;
    if (!bias)
        return HEDDLE_UNSUPPORTED;
    const float *gamma = parts[0]->data, *beta = parts[1]->data, *mean = parts[2]->data, *variance = parts[3]->data;
    for (size_t row = 0; row < made->rows; row++) {
        const double scale = (double)gamma[row] / sqrt((double)variance[row] + (double)epsilon);
        for (size_t i = row * made->columns; i < (row + 1) * made->columns; i++)
            weight[i] = (float)((double)made->weight[i] * scale);
        bias[row] =
            (float)(((made->bias ? (double)made->bias[row] : 0) - (double)mean[row]) * scale + (double)beta[row]);
    }
    made->weight = weight;
    made->bias = bias;
    return HEDDLE_OK;
}

heddle_status heddle_onnx_linear(heddle_onnx_reader *reader, const heddle_onnx_node *node, const heddle_onnx_way *way,
                                 heddle_onnx_layers *layers)
{
    product made = {0};
    HEDDLE_TRY(read_product(reader, node, layers, &made));
    const float *sum = layers->used < way->count ? sum_behind(reader, way->values[layers->used], &made) : NULL;
    if (sum) {
        made.bias = sum;
        ++layers->used;
    }
    const heddle_onnx_node *next =
        layers->used < way->count ? heddle_onnx_node_of(reader, way->values[layers->used]) : NULL;
    if (next && heddle_onnx_is(next, "BatchNormalization") && next->input_count > 0 &&
        next->inputs[0] == way->values[layers->used - 1]) {
        HEDDLE_TRY(fold_norm(reader, next, &made));
        ++layers->used;
    }
    heddle_layer layer = heddle_onnx_layer(layers, "linear");
    HEDDLE_TRY(heddle_onnx_set(reader, node, &layer, "features", (double)made.rows));
    layer.bias = made.bias != NULL;
    HEDDLE_TRY(heddle_onnx_add(reader, node, &layer, layers));
    heddle_onnx_add_values(reader, made.weight, made.rows * made.columns);
    if (made.bias)
        heddle_onnx_add_values(reader, made.bias, made.rows);
    return HEDDLE_OK;
}
