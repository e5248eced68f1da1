// What the rungs of matmul_host share: copying the tiles of a product in and out of the device, and multiplying two of
// them by matmul's kernels. Each rung chooses the order and the streams.
#pragma once

#include "device/cuda/check.h"
#include "ops/cuda/rung.h"
#include "ops/matmul_host/plan.h"

// output = a * b + beta * output of matrices on the device, queued on the call's stream.
typedef heddle_status host_multiplier(const heddle_call *call, const heddle_matmul_shape *shape, const float *a,
                                      const float *b, float *output, void *workspace);

// A product: where its matrices are in host memory, and where the buffers begin in the workspace.
typedef struct host_product {
    const heddle_call *call;
    heddle_matmul_host_shape shape;
    heddle_matmul_host_plan plan;
    const float *a, *b; // (m, k), (k, n)
    float *output;      // (m, n)
    char *buffers;
    void *workspace; // of the product of two tiles
    host_multiplier *multiply;
} host_product;

typedef heddle_matmul_host_step host_step;

// One set of buffers on the device, and which panels it holds.
typedef struct host_buffers {
    float *a, *b, *output;
    bool loaded;
    host_step panels;
} host_buffers;

static inline host_product host_product_of(const heddle_call *call, int sets, host_multiplier *multiply)
{
    host_product product;
    product.call = call;
    product.shape = *(const heddle_matmul_host_shape *)call->shape;
    product.plan = heddle_matmul_host_plan_of(&product.shape);
    product.a = (const float *)call->input[0];
    product.b = (const float *)call->input[1];
    product.output = (float *)call->output[0];
    product.buffers = (char *)call->workspace;
    product.workspace = product.buffers + heddle_matmul_host_buffers(&product.plan, sets);
    product.multiply = multiply;
    return product;
}

static inline host_buffers host_buffers_of(const host_product *product, int set)
{
    const heddle_matmul_host_plan *plan = &product->plan;
    char *start = product->buffers + heddle_matmul_host_buffers(plan, set);
    host_buffers buffers;
    buffers.a = (float *)start;
    buffers.b = (float *)(start + plan->bytes_a);
    buffers.output = (float *)(start + plan->bytes_a + plan->bytes_b);
    buffers.loaded = false;
    return buffers;
}

// Copies a block of a matrix whose rows are `from_leading` floats apart to one whose rows are `to_leading` apart.
static inline heddle_status host_copy_block(float *to, int to_leading, const float *from, int from_leading, int rows,
                                            int columns, cudaMemcpyKind kind, cudaStream_t stream)
{
    if (rows == 0 || columns == 0)
        return HEDDLE_OK;
    return HEDDLE_CUDA_CHECK(cudaMemcpy2DAsync(to, to_leading * sizeof(float), from, from_leading * sizeof(float),
                                               columns * sizeof(float), rows, kind, stream));
}

// Copies panels of a and b to the device, packed: rows there are as long as the panel is wide. What is already there is
// not copied again.
static inline heddle_status host_load(const host_product *product, const host_step *step, host_buffers *buffers,
                                      cudaStream_t stream)
{
    int n = product->shape.n, k = product->shape.k;
    const host_step *there = &buffers->panels;
    bool same_depth = buffers->loaded && there->first == step->first && there->depth == step->depth;
    if (!same_depth || there->row != step->row)
        HEDDLE_TRY(host_copy_block(buffers->a, step->depth, product->a + (size_t)step->row * k + step->first, k,
                                   step->rows, step->depth, cudaMemcpyHostToDevice, stream));
    if (!same_depth || there->column != step->column)
        HEDDLE_TRY(host_copy_block(buffers->b, step->columns, product->b + (size_t)step->first * n + step->column, n,
                                   step->depth, step->columns, cudaMemcpyHostToDevice, stream));
    buffers->panels = *step;
    buffers->loaded = true;
    return HEDDLE_OK;
}

// Rows of the panels' product, added to `output` unless it is the first.
static inline heddle_status host_multiply(const host_product *product, const host_step *step,
                                          const host_buffers *buffers, float *output, int row, int rows)
{
    float beta = step->first > 0 ? 1.0f : 0.0f;
    heddle_matmul_shape shape = {rows, step->columns, step->depth, 0, 0, 1.0f, beta};
    return product->multiply(product->call, &shape, buffers->a + (size_t)row * step->depth, buffers->b,
                             output + (size_t)row * step->columns, product->workspace);
}

// Copies rows of a tile to their place in host memory.
static inline heddle_status host_store(const host_product *product, const host_step *step, const float *output, int row,
                                       int rows, cudaStream_t stream)
{
    int n = product->shape.n;
    return host_copy_block(product->output + (size_t)(step->row + row) * n + step->column, n,
                           output + (size_t)row * step->columns, step->columns, rows, step->columns,
                           cudaMemcpyDeviceToHost, stream);
}

// By matmul's rung 10, in float32.
static inline heddle_status host_multiply_tuned(const heddle_call *call, const heddle_matmul_shape *shape,
                                                const float *a, const float *b, float *output, void *workspace)
{
    heddle_product product = heddle_product_forward(shape);
    product.a = a;
    product.b = b;
    product.output = output;
    return heddle_product_launch(&product, workspace, heddle_cuda_stream_of(call), "matmul_host");
}
