// matmul, rung 10: a tile size for each shape. The trainer uses this rung.
//
// Rung 9 had one tile size for all shapes and 64 sums per thread. The kernel here (tuned_kernel.h) is compiled for
// several tilings, and each product takes the one that keeps most of the GPU busy (tuned.h). For large outputs that is
// 128 by 128 with 128 sums per thread: 6 loads from shared memory per 128 multiplications. Smaller tiles serve outputs
// that would have too few tiles for all SMs. If even those are too few and k is long, k is split: several blocks sum
// parts of k for one tile into a workspace, and a second kernel adds the parts in order, so that the result is
// reproducible. A few rows or columns beyond whole tiles get no tiles: extra blocks compute each of their elements
// separately. The steps that k lacks for whole tiles are skipped two at a time. Each part of a step of k is loaded
// while the one before is multiplied, and blocks take tiles in bands that share what they read through L2.
//
// Limited by: issue slots. About nine of ten instructions in the loop are multiply-adds, of which an SM can issue four
// per cycle, one per scheduler. Some of them wait one more cycle for the register banks; only the assembler could place
// the sums better. Ragged outputs pay for whole tiles: 1030 columns take nine of 128.

#include "ops/matmul/tuned_kernel.h"

// The block's tile, its depth, a warp's tile, a thread's tile, tiles of k in shared memory, blocks per SM.
typedef matmul_tiling<128, 128, HEDDLE_PRODUCT_DEPTH, 64, 64, 8, 16, 2, 2> tiling_128_128;
static_assert((int)tiling_128_128::SHARED_BYTES == (int)HEDDLE_PRODUCT_SHARED_BYTES, "as the tables say");
typedef matmul_tiling<128, 64, HEDDLE_PRODUCT_DEPTH, 32, 64, 8, 8, 2, 3> tiling_128_64;
typedef matmul_tiling<64, 128, HEDDLE_PRODUCT_DEPTH, 32, 64, 8, 8, 2, 3> tiling_64_128;
typedef matmul_tiling<64, 64, HEDDLE_PRODUCT_DEPTH, 32, 32, 8, 4, 2, 4> tiling_64_64;

static matmul_side side_of(const float *data, int rows, int k, bool along_k, size_t stride)
{
    unsigned pitch = along_k ? k : rows;
    bool aligned = pitch % MATMUL_VECTOR == 0 && stride % MATMUL_VECTOR == 0 && (size_t)data % sizeof(float4) == 0;
    int layout = along_k ? MATMUL_ALONG_K : aligned ? MATMUL_VECTORS : MATMUL_ALONG_ROWS;
    return {data, pitch * (unsigned)sizeof(float), rows, layout};
}

template <class T> static void start(matmul_task task, cudaStream_t stream)
{
    // More than 48 KiB of shared memory must be requested, once per device; the request is cheap.
    cudaFuncSetAttribute(matmul_tuned<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, T::SHARED_BYTES);
    task.tiles_m = (int)heddle_product_tiles(task.product.m, T::BLOCK_M, task.edge_m);
    task.tiles_n = (int)heddle_product_tiles(task.product.n, T::BLOCK_N, task.edge_n);
    task.blocks = task.tiles_m * task.tiles_n * task.splits * task.product.batch;
    long long edge_warps = (task.edge_n ? matmul_edge_warps(task.a.layout, task.product.m) : 0) +
                           (task.edge_m ? matmul_edge_warps(task.b.layout, task.product.n - task.edge_n) : 0);
    unsigned blocks = task.blocks + heddle_ceil_div(edge_warps * task.product.batch, T::THREADS / 32);
    matmul_tuned<T><<<blocks, T::THREADS, T::SHARED_BYTES, stream>>>(task);
}

// output = alpha * sum of the parts + beta * output + bias; partial: (splits, elements)
__global__ void matmul_add_parts(heddle_product product, const float *partial, int splits, size_t elements)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= elements)
        return;
    float sum = 0;
#pragma unroll 8
    for (int s = 0; s < splits; s++)
        sum += partial[s * elements + at];
    sum *= product.alpha;
    if (product.beta != 0.0f)
        sum += product.beta * product.output[at];
    product.output[at] = product.bias ? sum + product.bias[at % product.n] : sum;
}

heddle_status heddle_product_launch(const heddle_product *product, void *workspace, cudaStream_t stream,
                                    const char *rung)
{
    size_t elements = (size_t)product->batch * product->m * product->n;
    if (elements == 0)
        return HEDDLE_OK;
    heddle_product_plan plan = heddle_product_plan_of(product);
    matmul_task task = {};
    task.product = *product;
    task.stride_a = (size_t)product->m * product->k;
    task.stride_b = (size_t)product->k * product->n;
    task.a = side_of(product->a, product->m, product->k, !product->transpose_a, task.stride_a);
    task.b = side_of(product->b, product->n, product->k, product->transpose_b, task.stride_b);
    task.splits = plan.splits;
    task.edge_m = plan.edge_m;
    task.edge_n = plan.edge_n;
    task.partial = plan.splits > 1 ? (float *)workspace : NULL;
    if (plan.tiling == HEDDLE_TILING_128_128)
        start<tiling_128_128>(task, stream);
    else if (plan.tiling == HEDDLE_TILING_128_64)
        start<tiling_128_64>(task, stream);
    else if (plan.tiling == HEDDLE_TILING_64_128)
        start<tiling_64_128>(task, stream);
    else
        start<tiling_64_64>(task, stream);
    if (plan.splits > 1)
        matmul_add_parts<<<heddle_cuda_blocks(elements), HEDDLE_CUDA_BLOCK, 0, stream>>>(*product, task.partial,
                                                                                         plan.splits, elements);
    return heddle_cuda_launched(rung);
}

static heddle_status launch_forward(const heddle_call *call)
{
    heddle_product product = heddle_product_forward((const heddle_matmul_shape *)call->shape);
    product.a = (const float *)call->input[0];
    product.b = (const float *)call->input[1];
    product.output = (float *)call->output[0];
    return heddle_product_launch(&product, call->workspace, heddle_cuda_stream_of(call), "10_tuned");
}

static heddle_status launch_backward(const heddle_call *call)
{
    const heddle_matmul_shape *shape = (const heddle_matmul_shape *)call->shape;
    const float *a = (const float *)call->input[0], *b = (const float *)call->input[1];
    const float *grad_output = (const float *)call->input[2];
    heddle_product grad_a = heddle_product_grad_a(shape), grad_b = heddle_product_grad_b(shape);
    grad_a.a = shape->transpose_a ? b : grad_output;
    grad_a.b = shape->transpose_a ? grad_output : b;
    grad_a.output = (float *)call->output[0];
    grad_b.a = shape->transpose_b ? grad_output : a;
    grad_b.b = shape->transpose_b ? a : grad_output;
    grad_b.output = (float *)call->output[1];
    heddle_status status = HEDDLE_OK;
    if (grad_a.output)
        status = heddle_product_launch(&grad_a, call->workspace, heddle_cuda_stream_of(call), "10_tuned");
    if (grad_b.output && status == HEDDLE_OK)
        status = heddle_product_launch(&grad_b, call->workspace, heddle_cuda_stream_of(call), "10_tuned");
    return status;
}

HEDDLE_CUDA_RUNG("matmul_forward", "10_tuned", launch_forward)
HEDDLE_CUDA_RUNG("matmul_backward", "10_tuned", launch_backward)
