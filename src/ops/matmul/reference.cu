// matmul's float64 reference as a kernel, for benchmark shapes that would take minutes on a CPU. Tiles in shared memory
// and 4 by 4 sums per thread keep 8192 cubed well under a second; it needs no more speed.

#include "ops/matmul/reference.h"

#include "ops/matmul_batched/product.h"

enum {
    TILE = 64, // rows and columns of a block's tile
    DEPTH = 16,
    SUMS = 4, // by 4: the tile of a thread
    SIDE = TILE / SUMS,
    THREADS = SIDE * SIDE,
};

// a: (batch, m, k), b: (batch, k, n) in float32; output: (batch, m, n) in float64. Threads of a block are `SIDE` apart
// in its tile, so that neighbouring lanes read neighbouring floats.
__global__ void __launch_bounds__(THREADS) matmul_reference(heddle_product product, double *output)
{
    __shared__ float tile_a[DEPTH][TILE + 1], tile_b[DEPTH][TILE + 1];
    size_t m = product.m, n = product.n, k = product.k;
    size_t down = (m + TILE - 1) / TILE, across = (n + TILE - 1) / TILE, which = blockIdx.x / (down * across);
    size_t row = blockIdx.x / across % down * TILE, column = blockIdx.x % across * TILE;
    const float *a = product.a + which * m * k, *b = product.b + which * k * n;
    int x = threadIdx.x % SIDE, y = threadIdx.x / SIDE;
    double sum[SUMS][SUMS] = {{0}};
    for (size_t start = 0; start < k; start += DEPTH) {
        for (int at = threadIdx.x; at < TILE * DEPTH; at += THREADS) {
            size_t p = start + at % DEPTH, i = row + at / DEPTH, j = column + at / DEPTH;
            if (product.transpose_a)
                p = start + at / TILE, i = row + at % TILE;
            tile_a[p - start][i - row] = p < k && i < m ? a[product.transpose_a ? p * m + i : i * k + p] : 0;
            p = start + at % DEPTH;
            if (!product.transpose_b)
                p = start + at / TILE, j = column + at % TILE;
            tile_b[p - start][j - column] = p < k && j < n ? b[product.transpose_b ? j * k + p : p * n + j] : 0;
        }
        __syncthreads();
        for (int p = 0; p < DEPTH; p++)
#pragma unroll
            for (int i = 0; i < SUMS; i++)
#pragma unroll
                for (int j = 0; j < SUMS; j++)
                    sum[i][j] += (double)tile_a[p][y + i * SIDE] * tile_b[p][x + j * SIDE];
        __syncthreads();
    }
    for (int i = 0; i < SUMS; i++)
        for (int j = 0; j < SUMS; j++) {
            size_t r = row + y + i * SIDE, c = column + x + j * SIDE;
            if (r >= m || c >= n)
                continue;
            double *to = output + (which * m + r) * n + c;
            *to = product.alpha * sum[i][j] + (product.beta == 0.0f ? 0 : product.beta * *to) +
                  (product.bias ? product.bias[c] : 0);
        }
}

heddle_status heddle_product_reference(const heddle_product *product, double *output, cudaStream_t stream)
{
    unsigned blocks = heddle_ceil_div(product->m, TILE) * heddle_ceil_div(product->n, TILE) * product->batch;
    if (blocks > 0)
        matmul_reference<<<blocks, THREADS, 0, stream>>>(*product, output);
    return heddle_cuda_launched("reference");
}

static heddle_status launch(heddle_product product, const void *a, const void *b, void *output, const heddle_call *call)
{
    product.a = (const float *)a;
    product.b = (const float *)b;
    return output ? heddle_product_reference(&product, (double *)output, heddle_cuda_stream_of(call)) : HEDDLE_OK;
}

static heddle_status launch_forward(const heddle_call *call)
{
    return launch(heddle_product_forward((const heddle_matmul_shape *)call->shape), call->input[0], call->input[1],
                  call->output[0], call);
}

static heddle_status launch_backward(const heddle_call *call)
{
    const heddle_matmul_shape *shape = (const heddle_matmul_shape *)call->shape;
    const void *a = call->input[0], *b = call->input[1], *grad_output = call->input[2];
    heddle_status status = launch(heddle_product_grad_a(shape), shape->transpose_a ? b : grad_output,
                                  shape->transpose_a ? grad_output : b, call->output[0], call);
    if (status != HEDDLE_OK)
        return status;
    return launch(heddle_product_grad_b(shape), shape->transpose_b ? grad_output : a,
                  shape->transpose_b ? a : grad_output, call->output[1], call);
}

static heddle_status launch_batched(const heddle_call *call)
{
    return launch(heddle_matmul_batched_product((const heddle_matmul_batched_shape *)call->shape), call->input[0],
                  call->input[1], call->output[0], call);
}

HEDDLE_CUDA_REFERENCE("matmul_forward", launch_forward)
HEDDLE_CUDA_REFERENCE("matmul_backward", launch_backward)
HEDDLE_CUDA_REFERENCE("matmul_batched_forward", launch_batched)
