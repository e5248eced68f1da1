// layernorm, rung 4: rows in registers, moved by 16-byte loads and stores.
//
// Rung 3 read a row twice, 4 bytes per load, and used either a warp or a block for it. Here a group that just fits the
// row (row_group.h: from 4 threads to 512) holds all of it in registers. The row is read once, with all loads in flight
// at once, and written once. With the elements in registers no running mean is needed: a center near the mean is found
// first, then the differences from it and their squares together. If the mean is far from 0 the differences are exact,
// and their mean is what the float that holds the center has lost.
//
// Backward, a block goes from row to row and keeps its share of the columns' sums in registers (in shared memory where
// rows are longest), each thread for its own columns. So input and grad_output are read once for all three gradients.
// The blocks' sums go to the workspace, and a second kernel adds them in a fixed order: the same bits every time.
//
// Rows whose length is not a multiple of 4, or whose start is not 16-byte aligned, are moved 4 bytes at a time, still
// coalesced. Rows too long for any group are processed piece by piece, three times forward and twice backward.
//
// Limited by: memory bandwidth.

#include "device/cuda/cuda.h"
#include "heddle/ops.h"
#include "ops/cuda/row_group.h"
#include "ops/cuda/rung.h"
#include "ops/layernorm/layernorm.h"

// For rows too long for any group: one block per row.
enum {
    LONG = 1024,
    LONG_VECTORS = 2, // per thread: loads in flight
    PIECE = LONG * LONG_VECTORS * HEDDLE_VECTOR,
};

// --- forward --------------------------------------------------------------------------------------------------------

template <int vectors> __device__ static float thread_sum(const float (*value)[HEDDLE_VECTOR])
{
    float sum = 0;
#pragma unroll
    for (int i = 0; i < vectors; i++)
        sum += (value[i][0] + value[i][1]) + (value[i][2] + value[i][3]);
    return sum;
}

// Subtracts the center from a thread's elements and returns the sum of the differences and of their squares, only for
// elements in the row.
template <int threads, int vectors, bool aligned>
__device__ static float2 thread_distances(float (*value)[HEDDLE_VECTOR], int cols, float center)
{
    float2 sums = make_float2(0, 0);
#pragma unroll
    for (int i = 0; i < vectors; i++)
#pragma unroll
        for (int k = 0; k < HEDDLE_VECTOR; k++) {
            value[i][k] -= center;
            float distance = heddle_row_col<threads, aligned>(i, aligned ? 0 : k) < cols ? value[i][k] : 0;
            sums.x += distance;
            sums.y += distance * distance;
        }
    return sums;
}

// How a row is normalised: a value becomes (value - center - rest) * inverse_std.
typedef struct moments {
    float center, rest, inverse_std;
} moments;

__device__ static moments moments_of(const heddle_layernorm_shape &shape, float center, float2 sums)
{
    float rest = sums.x / shape.cols, variance = (sums.y - sums.x * rest) / shape.cols;
    return moments{center, rest, 1 / sqrtf(fmaxf(variance, 0) + shape.epsilon)};
}

// (value - rest) * inverse_std * gamma + beta, in place.
template <int threads, int vectors, bool aligned>
__device__ static void scale_and_shift(float (*value)[HEDDLE_VECTOR], int cols, moments row, const float *gamma,
                                       const float *beta)
{
#pragma unroll
    for (int i = 0; i < vectors; i++) {
        float scale[1][HEDDLE_VECTOR], shift[1][HEDDLE_VECTOR];
        int first = i * threads * HEDDLE_VECTOR; // vector i of all threads starts here
        heddle_row_load<threads, 1, aligned>(gamma + first, cols - first, 0, scale);
        heddle_row_load<threads, 1, aligned>(beta + first, cols - first, 0, shift);
#pragma unroll
        for (int k = 0; k < HEDDLE_VECTOR; k++)
            value[i][k] = (value[i][k] - row.rest) * row.inverse_std * scale[0][k] + shift[0][k];
    }
}

// input and output: (rows, cols), gamma and beta: (cols), saved_mean and saved_inverse_std: (rows)
template <int threads, int vectors, bool aligned>
__global__ void __launch_bounds__(heddle_row_block(threads))
    layernorm_in_registers(heddle_layernorm_shape shape, const float *input, const float *gamma, const float *beta,
                           float *output, float *saved_mean, float *saved_inverse_std)
{
    __shared__ float of_warp[HEDDLE_WARPS];
    __shared__ float2 pair_of_warp[HEDDLE_WARPS];
    size_t row = heddle_group_row<threads>();
    int cols = row < (size_t)shape.rows ? shape.cols : 0; // beyond the last row, a group has no work
    float value[vectors][HEDDLE_VECTOR];
    heddle_row_load<threads, vectors, aligned>(input + row * shape.cols, cols, 0, value);

    float center = heddle_group_sum<threads>(thread_sum<vectors>(value), of_warp) / shape.cols;
    float2 sums = thread_distances<threads, vectors, aligned>(value, cols, center);
    moments found = moments_of(shape, center, heddle_group_sums<threads>(sums, pair_of_warp));

    scale_and_shift<threads, vectors, aligned>(value, cols, found, gamma, beta);
    heddle_row_store<threads, vectors, aligned>(output + row * shape.cols, cols, value);
    if (cols > 0 && heddle_group_lane<threads>() == 0) {
        saved_mean[row] = found.center + found.rest;
        saved_inverse_std[row] = found.inverse_std;
    }
}

template <bool aligned>
__global__ void __launch_bounds__(LONG)
    layernorm_long_rows(heddle_layernorm_shape shape, const float *input, const float *gamma, const float *beta,
                        float *output, float *saved_mean, float *saved_inverse_std)
{
    __shared__ float of_warp[HEDDLE_WARPS];
    __shared__ float2 pair_of_warp[HEDDLE_WARPS];
    const float *x = input + (size_t)blockIdx.x * shape.cols;
    float *y = output + (size_t)blockIdx.x * shape.cols, value[LONG_VECTORS][HEDDLE_VECTOR], sum = 0;
    for (int first = 0; first < shape.cols; first += PIECE) {
        heddle_row_load<LONG, LONG_VECTORS, aligned>(x + first, shape.cols - first, 0, value);
        sum += thread_sum<LONG_VECTORS>(value);
    }
    float center = heddle_group_sum<LONG>(sum, of_warp) / shape.cols;
    float2 sums = make_float2(0, 0);
    for (int first = 0; first < shape.cols; first += PIECE) {
        heddle_row_load<LONG, LONG_VECTORS, aligned>(x + first, shape.cols - first, 0, value);
        float2 more = thread_distances<LONG, LONG_VECTORS, aligned>(value, shape.cols - first, center);
        sums = make_float2(sums.x + more.x, sums.y + more.y);
    }
    moments found = moments_of(shape, center, heddle_group_sums<LONG>(sums, pair_of_warp));
    for (int first = 0; first < shape.cols; first += PIECE) {
        int cols = shape.cols - first;
        heddle_row_load<LONG, LONG_VECTORS, aligned>(x + first, cols, 0, value);
        thread_distances<LONG, LONG_VECTORS, aligned>(value, cols, center);
        scale_and_shift<LONG, LONG_VECTORS, aligned>(value, cols, found, gamma + first, beta + first);
        heddle_row_store<LONG, LONG_VECTORS, aligned>(y + first, cols, value);
    }
    if (threadIdx.x == 0) {
        saved_mean[blockIdx.x] = found.center + found.rest;
        saved_inverse_std[blockIdx.x] = found.inverse_std;
    }
}

typedef void forward_kernel(heddle_layernorm_shape shape, const float *input, const float *gamma, const float *beta,
                            float *output, float *saved_mean, float *saved_inverse_std);

static heddle_status launch_forward(const heddle_call *call)
{
#define KERNELS(threads, vectors)                                                                                      \
    {                                                                                                                  \
        layernorm_in_registers<threads, vectors, false>, layernorm_in_registers<threads, vectors, true>                \
    }
    static forward_kernel *const kernels[][2] = {HEDDLE_ROW_GROUPS(KERNELS)};
#undef KERNELS
    const heddle_layernorm_shape *shape = (const heddle_layernorm_shape *)call->shape;
    const float *input = (const float *)call->input[0], *gamma = (const float *)call->input[1];
    const float *beta = (const float *)call->input[2];
    float *output = (float *)call->output[0], *mean = (float *)call->output[1];
    float *inverse_std = (float *)call->output[2];
    bool aligned = shape->cols % HEDDLE_VECTOR == 0 && heddle_aligned16(input) && heddle_aligned16(gamma) &&
                   heddle_aligned16(beta) && heddle_aligned16(output);
    int group = heddle_row_group_of(shape->cols);
    if (shape->rows == 0)
        return HEDDLE_OK;
    if (group >= 0)
        kernels[group][aligned]<<<heddle_row_blocks(group, shape->rows), heddle_row_threads(group), 0,
                                  heddle_cuda_stream_of(call)>>>(*shape, input, gamma, beta, output, mean, inverse_std);
    else
        (aligned ? layernorm_long_rows<true>
                 : layernorm_long_rows<false>)<<<shape->rows, LONG, 0, heddle_cuda_stream_of(call)>>>(
            *shape, input, gamma, beta, output, mean, inverse_std);
    return heddle_cuda_launched("04_vectorised");
}

// --- backward -------------------------------------------------------------------------------------------------------

// What a kernel of the backward pass reads and writes. input, grad_output and grad_input: (rows, cols), gamma: (cols),
// mean and inverse_std: (rows), parts: (2, blocks, cols), the blocks' sums for gamma, then for beta. grad_input: NULL
// if not requested.
typedef struct gradients {
    const float *input, *gamma, *mean, *inverse_std, *grad_output;
    float *grad_input, *parts;
} gradients;

// A thread's sums of its columns, in registers or, if a block has too few of them, in its slots of shared memory.
// slots: (vectors, threads per block).
template <int vectors, int block, bool shared> struct column_sums {
    float4 own[shared ? 1 : vectors], *slots;

    __device__ column_sums(float4 *of_block) : slots(of_block + threadIdx.x)
    {
#pragma unroll
        for (int i = 0; i < vectors; i++)
            (shared ? slots[i * block] : own[shared ? 0 : i]) = make_float4(0, 0, 0, 0);
    }
    __device__ void add(int i, float4 more)
    {
        float4 &sum = shared ? slots[i * block] : own[shared ? 0 : i];
        sum = make_float4(sum.x + more.x, sum.y + more.y, sum.z + more.z, sum.w + more.w);
    }
    // Adds those of all groups of a block, one after the other, and stores them to `part`: (cols).
    template <int threads, bool aligned> __device__ void store(int cols, float *part)
    {
#pragma unroll
        for (int i = 0; !shared && block > threads && i < vectors; i++)
            slots[i * block] = own[i];
        if (block > threads)
            __syncthreads();
        float total[vectors][HEDDLE_VECTOR];
#pragma unroll
        for (int i = 0; i < vectors; i++) {
            float4 sum = shared ? slots[i * block] : own[shared ? 0 : i];
            for (int other = threads; threadIdx.x < threads && other < block; other += threads) {
                float4 more = slots[i * block + other];
                sum = make_float4(sum.x + more.x, sum.y + more.y, sum.z + more.z, sum.w + more.w);
            }
            total[i][0] = sum.x;
            total[i][1] = sum.y;
            total[i][2] = sum.z;
            total[i][3] = sum.w;
        }
        heddle_row_store<threads, vectors, aligned>(part, threadIdx.x < threads ? cols : 0, total);
    }
};

// Too many for registers: the sums of a thread of the largest blocks.
__host__ __device__ constexpr bool sums_in_shared(int threads, int vectors)
{
    return threads * vectors > 2048;
}

// A thread's elements of vector i: x becomes n = (x - mean) / std, grad becomes grad * gamma. Adds to the sums of the
// columns and of the row.
template <typename Sums>
__device__ static inline void use_vector(int i, float (&x)[HEDDLE_VECTOR], float (&grad)[HEDDLE_VECTOR],
                                         const float (&gamma)[HEDDLE_VECTOR], float mean, float inverse_std,
                                         Sums *gamma_sums, Sums *beta_sums, float *sum, float *product)
{
    float of_gamma[HEDDLE_VECTOR];
    beta_sums->add(i, make_float4(grad[0], grad[1], grad[2], grad[3]));
#pragma unroll
    for (int k = 0; k < HEDDLE_VECTOR; k++) {
        x[k] = (x[k] - mean) * inverse_std;
        of_gamma[k] = grad[k] * x[k];
        grad[k] *= gamma[k];
        *sum += grad[k];
        *product += grad[k] * x[k];
    }
    gamma_sums->add(i, make_float4(of_gamma[0], of_gamma[1], of_gamma[2], of_gamma[3]));
}

// With scaled = grad * gamma and n = (x - mean) / std:
// grad_input = (scaled - mean(scaled) - n * mean(scaled * n)) / std
template <int threads, int vectors, bool aligned>
__global__ void __launch_bounds__(heddle_row_block(threads))
    layernorm_backward_in_registers(heddle_layernorm_shape shape, gradients all)
{
    constexpr int block = heddle_row_block(threads), together = block / threads; // rows per block
    extern __shared__ float4 of_thread[];       // (2, vectors, block), where it is needed: for gamma, then for beta
    __shared__ float2 of_warp[2][HEDDLE_WARPS]; // used alternately: some threads still read one while others write the
                                                // next
    column_sums<vectors, block, sums_in_shared(threads, vectors)> gamma_sums(of_thread),
        beta_sums(of_thread + vectors * block);
    int turn = 0;
    for (size_t first = (size_t)blockIdx.x * together; first < (size_t)shape.rows;
         first += (size_t)gridDim.x * together, turn ^= 1) {
        size_t row = first + threadIdx.x / threads;
        int cols = row < (size_t)shape.rows ? shape.cols : 0;
        float mean = cols > 0 ? all.mean[row] : 0, inverse_std = cols > 0 ? all.inverse_std[row] : 0;
        float x[vectors][HEDDLE_VECTOR], grad[vectors][HEDDLE_VECTOR], sum = 0, product = 0;
        heddle_row_load<threads, vectors, aligned>(all.input + row * shape.cols, cols, mean, x);
        heddle_row_load<threads, vectors, aligned>(all.grad_output + row * shape.cols, cols, 0, grad);
#pragma unroll
        for (int i = 0; i < vectors; i++) {
            float gamma[1][HEDDLE_VECTOR];
            int at = i * threads * HEDDLE_VECTOR; // vector i of all threads starts here
            heddle_row_load<threads, 1, aligned>(all.gamma + at, cols - at, 0, gamma);
            use_vector(i, x[i], grad[i], gamma[0], mean, inverse_std, &gamma_sums, &beta_sums, &sum, &product);
        }
        float2 sums_of_row = heddle_group_sums<threads>(make_float2(sum, product), of_warp[turn]);
        sum = sums_of_row.x / shape.cols;
        product = sums_of_row.y / shape.cols;
#pragma unroll
        for (int i = 0; i < vectors; i++)
#pragma unroll
            for (int k = 0; k < HEDDLE_VECTOR; k++)
                grad[i][k] = inverse_std * (grad[i][k] - sum - x[i][k] * product);
        if (all.grad_input)
            heddle_row_store<threads, vectors, aligned>(all.grad_input + row * shape.cols, cols, grad);
    }
    float *part = all.parts + (size_t)blockIdx.x * shape.cols;
    gamma_sums.template store<threads, aligned>(shape.cols, part);
    beta_sums.template store<threads, aligned>(shape.cols, part + (size_t)gridDim.x * shape.cols);
}

// Rows too long for any group: one block per row, which reads it twice.
__global__ void __launch_bounds__(LONG) layernorm_backward_long_rows(heddle_layernorm_shape shape, gradients all)
{
    __shared__ float of_warp[2][HEDDLE_WARPS];
    size_t at = (size_t)blockIdx.x * shape.cols;
    const float *x = all.input + at, *grad = all.grad_output + at;
    float mean = all.mean[blockIdx.x], inverse_std = all.inverse_std[blockIdx.x], sum = 0, product = 0;
    for (int j = threadIdx.x; j < shape.cols; j += LONG) {
        float scaled = grad[j] * all.gamma[j];
        sum += scaled;
        product += scaled * ((x[j] - mean) * inverse_std);
    }
    sum = heddle_group_sum<LONG>(sum, of_warp[0]) / shape.cols;
    product = heddle_group_sum<LONG>(product, of_warp[1]) / shape.cols;
    for (int j = threadIdx.x; j < shape.cols; j += LONG)
        all.grad_input[at + j] = inverse_std * (grad[j] * all.gamma[j] - sum - (x[j] - mean) * inverse_std * product);
}

enum { TALL = 16 }; // threads per column: their sums are added at the end

// Sum over the TALL threads of a column, in those with threadIdx.y == 0.
__device__ static float column_sum(float (*of_thread)[HEDDLE_WARP], float sum)
{
    of_thread[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y == 0)
        for (int y = 1; y < TALL; y++)
            sum += of_thread[y][threadIdx.x];
    return sum;
}

// ... and their columns: a block takes 32 of them and every gridDim.y-th row.
__global__ void layernorm_backward_long_columns(heddle_layernorm_shape shape, gradients all)
{
    __shared__ float of_thread[2][TALL][HEDDLE_WARP];
    int col = (int)(blockIdx.x * HEDDLE_WARP + threadIdx.x);
    float sum = 0, product = 0;
    for (size_t row = blockIdx.y + threadIdx.y * gridDim.y; col < shape.cols && row < (size_t)shape.rows;
         row += TALL * gridDim.y) {
        float grad = all.grad_output[row * shape.cols + col];
        sum += grad;
        product += grad * ((all.input[row * shape.cols + col] - all.mean[row]) * all.inverse_std[row]);
    }
    product = column_sum(of_thread[0], product);
    sum = column_sum(of_thread[1], sum);
    if (threadIdx.y == 0 && col < shape.cols) {
        all.parts[(size_t)blockIdx.y * shape.cols + col] = product;
        all.parts[((size_t)gridDim.y + blockIdx.y) * shape.cols + col] = sum;
    }
}

// Adds `count` parts in order: parts (2, count, cols) -> grad_gamma and grad_beta: (cols), chosen by blockIdx.y.
__global__ void layernorm_add_parts(int cols, int count, const float *parts, float *grad_gamma, float *grad_beta)
{
    __shared__ float of_thread[TALL][HEDDLE_WARP];
    int col = (int)(blockIdx.x * HEDDLE_WARP + threadIdx.x);
    const float *from = parts + (size_t)blockIdx.y * count * cols;
    float sum = 0;
    for (int part = threadIdx.y; col < cols && part < count; part += TALL)
        sum += from[(size_t)part * cols + col];
    sum = column_sum(of_thread, sum);
    if (threadIdx.y == 0 && col < cols)
        (blockIdx.y == 0 ? grad_gamma : grad_beta)[col] = sum;
}

typedef void backward_kernel(heddle_layernorm_shape shape, gradients all);

// Bytes of shared memory for the sums of a block, or in which its groups meet.
static size_t sum_bytes(int group)
{
    const int block = heddle_row_threads(group), vectors = heddle_row_groups[group].vectors;
    const int threads = heddle_row_groups[group].threads;
    return block > threads || sums_in_shared(threads, vectors) ? (size_t)2 * vectors * block * sizeof(float4) : 0;
}

// The threads for a row; -1: no group holds it, or its sums need more shared memory than a block of this GPU has.
static int backward_group(int cols)
{
    int group = heddle_row_group_of(cols);
    return group >= 0 && sum_bytes(group) > (size_t)heddle_cuda_shared_bytes() ? -1 : group;
}

static backward_kernel *backward_of(const heddle_layernorm_shape *shape, int group, const gradients *all)
{
#define KERNELS(threads, vectors)                                                                                      \
    {                                                                                                                  \
        layernorm_backward_in_registers<threads, vectors, false>,                                                      \
            layernorm_backward_in_registers<threads, vectors, true>                                                    \
    }
    static backward_kernel *const kernels[][2] = {HEDDLE_ROW_GROUPS(KERNELS)};
#undef KERNELS
    return kernels[group][shape->cols % HEDDLE_VECTOR == 0 && heddle_aligned16(all->input) &&
                          heddle_aligned16(all->gamma) && heddle_aligned16(all->grad_output) &&
                          heddle_aligned16(all->grad_input)];
}

// Blocks for rows in registers: as many as run at once, but no more than there are rows and room for parts.
static int backward_blocks(const heddle_layernorm_shape *shape, int group, backward_kernel *kernel)
{
    int rows = (int)heddle_row_blocks(group, shape->rows), parts = heddle_layernorm_parts(shape->rows, shape->cols);
    int on_each = 1;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&on_each, kernel, heddle_row_threads(group), sum_bytes(group));
    int blocks = heddle_cuda_multiprocessors() * (on_each > 0 ? on_each : 1);
    blocks = blocks < rows ? blocks : rows;
    return blocks < parts ? blocks : parts;
}

static heddle_status launch_backward(const heddle_call *call)
{
    const heddle_layernorm_shape *shape = (const heddle_layernorm_shape *)call->shape;
    gradients all = {(const float *)call->input[0], (const float *)call->input[1], (const float *)call->input[2],
                     (const float *)call->input[3], (const float *)call->input[4], (float *)call->output[0],
                     (float *)call->workspace};
    cudaStream_t stream = heddle_cuda_stream_of(call);
    dim3 columns(heddle_ceil_div(shape->cols, HEDDLE_WARP), 2), threads(HEDDLE_WARP, TALL);
    int group = backward_group(shape->cols), parts = heddle_layernorm_parts(shape->rows, shape->cols);
    if (shape->rows > 0 && group >= 0) {
        backward_kernel *kernel = backward_of(shape, group, &all);
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)sum_bytes(group));
        parts = backward_blocks(shape, group, kernel);
        kernel<<<parts, heddle_row_threads(group), sum_bytes(group), stream>>>(*shape, all);
    } else if (shape->rows > 0) {
        if (all.grad_input)
            layernorm_backward_long_rows<<<shape->rows, LONG, 0, stream>>>(*shape, all);
        layernorm_backward_long_columns<<<dim3(columns.x, parts), threads, 0, stream>>>(*shape, all);
    }
    layernorm_add_parts<<<columns, threads, 0, stream>>>(shape->cols, parts, all.parts, (float *)call->output[1],
                                                         (float *)call->output[2]);
    return heddle_cuda_launched("04_vectorised");
}

HEDDLE_CUDA_RUNG("layernorm_forward", "04_vectorised", launch_forward)
HEDDLE_CUDA_RUNG("layernorm_backward", "04_vectorised", launch_backward)
