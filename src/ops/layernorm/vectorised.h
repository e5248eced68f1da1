// The kernels of layernorm's last rung, and of rmsnorm's, which has no mean and no beta (`centred` false): rows in
// registers, columns' sums from row to row. layernorm/04_vectorised.cu explains them; the rungs bring their operands.
#pragma once

#include "device/cuda/cuda.h"
#include "heddle/ops.h"
#include "ops/cuda/dependent.h"
#include "ops/cuda/row_group.h"
#include "ops/cuda/rung.h"
#include "ops/layernorm/layernorm.h"

// For rows too long for any group: one block per row.
enum {
    NORM_LONG = 1024,
    NORM_LONG_VECTORS = 2, // per thread: loads in flight
    NORM_PIECE = NORM_LONG * NORM_LONG_VECTORS * HEDDLE_VECTOR,
};

// --- forward --------------------------------------------------------------------------------------------------------

template <int vectors> __device__ static float norm_thread_sum(const float (*value)[HEDDLE_VECTOR])
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
__device__ static float2 norm_thread_distances(float (*value)[HEDDLE_VECTOR], int cols, float center)
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
typedef struct norm_moments {
    float center, rest, inverse_std;
} norm_moments;

// From a thread's sums, with those of the other threads of its group.
template <int threads, bool centred>
__device__ static norm_moments norm_moments_of(const heddle_layernorm_shape &shape, float center, float2 sums,
                                               float2 *of_warp)
{
    if (!centred)
        return norm_moments{0, 0,
                            1 / sqrtf(heddle_group_sum<threads>(sums.y, &of_warp->x) / shape.cols + shape.epsilon)};
    sums = heddle_group_sums<threads>(sums, of_warp);
    float rest = sums.x / shape.cols, variance = (sums.y - sums.x * rest) / shape.cols;
    return norm_moments{center, rest, 1 / sqrtf(fmaxf(variance, 0) + shape.epsilon)};
}

// (value - rest) * inverse_std * gamma + beta, in place.
template <int threads, int vectors, bool aligned, bool centred>
__device__ static void norm_scale_and_shift(float (*value)[HEDDLE_VECTOR], int cols, norm_moments row,
                                            const float *gamma, const float *beta)
{
#pragma unroll
    for (int i = 0; i < vectors; i++) {
        float scale[1][HEDDLE_VECTOR], shift[1][HEDDLE_VECTOR];
        int first = i * threads * HEDDLE_VECTOR; // vector i of all threads starts here
        heddle_row_load<threads, 1, aligned>(gamma + first, cols - first, 0, scale);
        if (centred)
            heddle_row_load<threads, 1, aligned>(beta + first, cols - first, 0, shift);
#pragma unroll
        for (int k = 0; k < HEDDLE_VECTOR; k++)
            value[i][k] = (value[i][k] - row.rest) * row.inverse_std * scale[0][k] + (centred ? shift[0][k] : 0);
    }
}

// input and output: (rows, cols), gamma and beta: (cols), mean and inverse_std: (rows); without a mean beta and mean
// are NULL
typedef struct norm_forward {
    const float *input, *gamma, *beta;
    float *output, *mean, *inverse_std;
} norm_forward;

static inline norm_forward norm_forward_of_layernorm(const heddle_call *call)
{
    return norm_forward{(const float *)call->input[0], (const float *)call->input[1], (const float *)call->input[2],
                        (float *)call->output[0],      (float *)call->output[1],      (float *)call->output[2]};
}

static inline norm_forward norm_forward_of_rmsnorm(const heddle_call *call)
{
    return norm_forward{
        (const float *)call->input[0], (const float *)call->input[1], nullptr, (float *)call->output[0], nullptr,
        (float *)call->output[1]};
}

// Normalises a group's row, whose elements are in registers, and stores it. Shared memory as in row_group.h.
template <int threads, int vectors, bool aligned, bool centred>
__device__ static void norm_finish_row(const heddle_layernorm_shape &shape, const norm_forward &of, size_t row,
                                       int cols, float (*value)[HEDDLE_VECTOR], float *of_warp, float2 *pair_of_warp)
{
    float center = centred ? heddle_group_sum<threads>(norm_thread_sum<vectors>(value), of_warp) / shape.cols : 0;
    float2 sums = norm_thread_distances<threads, vectors, aligned>(value, cols, center);
    norm_moments found = norm_moments_of<threads, centred>(shape, center, sums, pair_of_warp);

    norm_scale_and_shift<threads, vectors, aligned, centred>(value, cols, found, of.gamma, of.beta);
    heddle_row_store<threads, vectors, aligned>(of.output + row * shape.cols, cols, value);
    if (cols > 0 && heddle_group_lane<threads>() == 0) {
        if (centred)
            of.mean[row] = found.center + found.rest;
        of.inverse_std[row] = found.inverse_std;
    }
}

template <int threads, int vectors, bool aligned, bool centred>
__global__ void __launch_bounds__(heddle_row_block(threads))
    layernorm_in_registers(heddle_layernorm_shape shape, const float *input, const float *gamma, const float *beta,
                           float *output, float *saved_mean, float *saved_inverse_std)
{
    __shared__ float of_warp[HEDDLE_WARPS];
    __shared__ float2 pair_of_warp[HEDDLE_WARPS];
    const norm_forward of = {input, gamma, beta, output, saved_mean, saved_inverse_std};
    size_t row = heddle_group_row<threads>();
    int cols = row < (size_t)shape.rows ? shape.cols : 0; // beyond the last row, a group has no work
    float value[vectors][HEDDLE_VECTOR];
    heddle_row_load<threads, vectors, aligned>(input + row * shape.cols, cols, 0, value);
    norm_finish_row<threads, vectors, aligned, centred>(shape, of, row, cols, value, of_warp, pair_of_warp);
}

template <bool aligned, bool centred>
__global__ void __launch_bounds__(NORM_LONG)
    layernorm_long_rows(heddle_layernorm_shape shape, const float *input, const float *gamma, const float *beta,
                        float *output, float *saved_mean, float *saved_inverse_std)
{
    __shared__ float of_warp[HEDDLE_WARPS];
    __shared__ float2 pair_of_warp[HEDDLE_WARPS];
    const float *x = input + (size_t)blockIdx.x * shape.cols;
    float *y = output + (size_t)blockIdx.x * shape.cols, value[NORM_LONG_VECTORS][HEDDLE_VECTOR], sum = 0;
    for (int first = 0; centred && first < shape.cols; first += NORM_PIECE) {
        heddle_row_load<NORM_LONG, NORM_LONG_VECTORS, aligned>(x + first, shape.cols - first, 0, value);
        sum += norm_thread_sum<NORM_LONG_VECTORS>(value);
    }
    float center = centred ? heddle_group_sum<NORM_LONG>(sum, of_warp) / shape.cols : 0;
    float2 sums = make_float2(0, 0);
    for (int first = 0; first < shape.cols; first += NORM_PIECE) {
        heddle_row_load<NORM_LONG, NORM_LONG_VECTORS, aligned>(x + first, shape.cols - first, 0, value);
        float2 more = norm_thread_distances<NORM_LONG, NORM_LONG_VECTORS, aligned>(value, shape.cols - first, center);
        sums = make_float2(sums.x + more.x, sums.y + more.y);
    }
    norm_moments found = norm_moments_of<NORM_LONG, centred>(shape, center, sums, pair_of_warp);
    for (int first = 0; first < shape.cols; first += NORM_PIECE) {
        int cols = shape.cols - first;
        heddle_row_load<NORM_LONG, NORM_LONG_VECTORS, aligned>(x + first, cols, 0, value);
        norm_thread_distances<NORM_LONG, NORM_LONG_VECTORS, aligned>(value, cols, center);
        norm_scale_and_shift<NORM_LONG, NORM_LONG_VECTORS, aligned, centred>(value, cols, found, gamma + first,
                                                                             centred ? beta + first : nullptr);
        heddle_row_store<NORM_LONG, NORM_LONG_VECTORS, aligned>(y + first, cols, value);
    }
    if (threadIdx.x == 0) {
        if (centred)
            saved_mean[blockIdx.x] = found.center + found.rest;
        saved_inverse_std[blockIdx.x] = found.inverse_std;
    }
}

typedef void norm_forward_kernel(heddle_layernorm_shape shape, const float *input, const float *gamma,
                                 const float *beta, float *output, float *saved_mean, float *saved_inverse_std);

// Whether rows are moved 16 bytes at a time.
static inline bool norm_forward_aligned(const heddle_layernorm_shape *shape, const norm_forward *of)
{
    return shape->cols % HEDDLE_VECTOR == 0 && heddle_aligned16(of->input) && heddle_aligned16(of->gamma) &&
           heddle_aligned16(of->beta) && heddle_aligned16(of->output);
}

template <bool centred>
static void norm_forward_queue(const heddle_layernorm_shape *shape, const norm_forward *of, cudaStream_t stream)
{
#define KERNELS(threads, vectors)                                                                                      \
    {                                                                                                                  \
        layernorm_in_registers<threads, vectors, false, centred>,                                                      \
            layernorm_in_registers<threads, vectors, true, centred>                                                    \
    }
    static norm_forward_kernel *const kernels[][2] = {HEDDLE_ROW_GROUPS(KERNELS)};
#undef KERNELS
    bool aligned = norm_forward_aligned(shape, of);
    int group = heddle_row_group_of(shape->cols);
    if (shape->rows == 0)
        return;
    if (group >= 0)
        kernels[group][aligned]<<<heddle_row_blocks(group, shape->rows), heddle_row_threads(group), 0, stream>>>(
            *shape, of->input, of->gamma, of->beta, of->output, of->mean, of->inverse_std);
    else
        (aligned ? layernorm_long_rows<true, centred>
                 : layernorm_long_rows<false, centred>)<<<shape->rows, NORM_LONG, 0, stream>>>(
            *shape, of->input, of->gamma, of->beta, of->output, of->mean, of->inverse_std);
}

// --- backward -------------------------------------------------------------------------------------------------------

// What a kernel of the backward pass reads and writes. input, grad_output and grad_input: (rows, cols), gamma: (cols),
// mean and inverse_std: (rows), parts: (2, blocks, cols), the blocks' sums for gamma, then for beta. grad_input: NULL
// if not requested. Without a mean `mean` is NULL, and there is nothing for beta.
typedef struct norm_gradients {
    const float *input, *gamma, *mean, *inverse_std, *grad_output;
    float *grad_input, *parts;
} norm_gradients;

static inline norm_gradients norm_gradients_of_layernorm(const heddle_call *call)
{
    return norm_gradients{(const float *)call->input[0], (const float *)call->input[1], (const float *)call->input[2],
                          (const float *)call->input[3], (const float *)call->input[4], (float *)call->output[0],
                          (float *)call->workspace};
}

static inline norm_gradients norm_gradients_of_rmsnorm(const heddle_call *call)
{
    return norm_gradients{(const float *)call->input[0], (const float *)call->input[1], nullptr,
                          (const float *)call->input[2], (const float *)call->input[3], (float *)call->output[0],
                          (float *)call->workspace};
}

// A thread's sums of its columns, in registers or, if a block has too few of them, in its slots of shared memory.
// slots: (vectors, threads per block).
template <int vectors, int block, bool shared> struct norm_column_sums {
    float4 own[shared ? 1 : vectors], *slots;

    __device__ norm_column_sums(float4 *of_block) : slots(of_block + threadIdx.x)
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
__host__ __device__ constexpr bool norm_sums_in_shared(int threads, int vectors)
{
    return threads * vectors > 2048;
}

// A thread's elements of vector i: x becomes n = (x - mean) / std, grad becomes grad * gamma. Adds to the sums of the
// columns and of the row.
template <bool centred, typename Sums, typename BetaSums>
__device__ static inline void norm_use_vector(int i, float (&x)[HEDDLE_VECTOR], float (&grad)[HEDDLE_VECTOR],
                                              const float (&gamma)[HEDDLE_VECTOR], float mean, float inverse_std,
                                              Sums *gamma_sums, BetaSums *beta_sums, float *sum, float *product)
{
    float of_gamma[HEDDLE_VECTOR];
    if (centred)
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
// grad_input = (scaled - mean(scaled) - n * mean(scaled * n)) / std, and without a mean the same but for mean(scaled).
// For a group's row, whose elements are in registers. Shared memory as in row_group.h.
template <int threads, int vectors, bool aligned, bool centred, typename Sums, typename BetaSums>
__device__ static void norm_backward_row(const heddle_layernorm_shape &shape, const norm_gradients &all, size_t row,
                                         int cols, float mean, float inverse_std, float (*x)[HEDDLE_VECTOR],
                                         float (*grad)[HEDDLE_VECTOR], Sums *gamma_sums, BetaSums *beta_sums,
                                         float2 *of_warp)
{
    float sum = 0, product = 0;
#pragma unroll
    for (int i = 0; i < vectors; i++) {
        float gamma[1][HEDDLE_VECTOR];
        int at = i * threads * HEDDLE_VECTOR; // vector i of all threads starts here
        heddle_row_load<threads, 1, aligned>(all.gamma + at, cols - at, 0, gamma);
        norm_use_vector<centred>(i, x[i], grad[i], gamma[0], mean, inverse_std, gamma_sums, beta_sums, &sum, &product);
    }
    if (centred) {
        float2 sums_of_row = heddle_group_sums<threads>(make_float2(sum, product), of_warp);
        sum = sums_of_row.x / shape.cols;
        product = sums_of_row.y / shape.cols;
    } else {
        sum = 0;
        product = heddle_group_sum<threads>(product, &of_warp->x) / shape.cols;
    }
#pragma unroll
    for (int i = 0; i < vectors; i++)
#pragma unroll
        for (int k = 0; k < HEDDLE_VECTOR; k++)
            grad[i][k] = inverse_std * (grad[i][k] - sum - x[i][k] * product);
    if (all.grad_input)
        heddle_row_store<threads, vectors, aligned>(all.grad_input + row * shape.cols, cols, grad);
}

// After a block's last row: its sums of the columns.
template <int threads, bool aligned, bool centred, typename Sums, typename BetaSums>
__device__ static void norm_store_sums(const heddle_layernorm_shape &shape, const norm_gradients &all, Sums &gamma_sums,
                                       BetaSums &beta_sums)
{
    heddle_release_next();
    float *part = all.parts + (size_t)blockIdx.x * shape.cols;
    gamma_sums.template store<threads, aligned>(shape.cols, part);
    if (centred)
        beta_sums.template store<threads, aligned>(shape.cols, part + (size_t)gridDim.x * shape.cols);
}

template <int threads, int vectors, bool aligned, bool centred>
__global__ void __launch_bounds__(heddle_row_block(threads))
    layernorm_backward_in_registers(heddle_layernorm_shape shape, norm_gradients all)
{
    constexpr int block = heddle_row_block(threads), together = block / threads; // rows per block
    extern __shared__ float4 of_thread[];       // (2, vectors, block), where it is needed: for gamma, then for beta
    __shared__ float2 of_warp[2][HEDDLE_WARPS]; // used alternately: some threads still read one while others write the
                                                // next
    norm_column_sums<vectors, block, norm_sums_in_shared(threads, vectors)> gamma_sums(of_thread);
    norm_column_sums<centred ? vectors : 1, block, centred && norm_sums_in_shared(threads, vectors)> beta_sums(
        of_thread + (centred ? vectors * block : 0));
    int turn = 0;
    for (size_t first = (size_t)blockIdx.x * together; first < (size_t)shape.rows;
         first += (size_t)gridDim.x * together, turn ^= 1) {
        size_t row = first + threadIdx.x / threads;
        int cols = row < (size_t)shape.rows ? shape.cols : 0;
        float mean = centred && cols > 0 ? all.mean[row] : 0, inverse_std = cols > 0 ? all.inverse_std[row] : 0;
        float x[vectors][HEDDLE_VECTOR], grad[vectors][HEDDLE_VECTOR];
        heddle_row_load<threads, vectors, aligned>(all.input + row * shape.cols, cols, mean, x);
        heddle_row_load<threads, vectors, aligned>(all.grad_output + row * shape.cols, cols, 0, grad);
        norm_backward_row<threads, vectors, aligned, centred>(shape, all, row, cols, mean, inverse_std, x, grad,
                                                              &gamma_sums, &beta_sums, of_warp[turn]);
    }
    norm_store_sums<threads, aligned, centred>(shape, all, gamma_sums, beta_sums);
}

// Rows too long for any group: one block per row, which reads it twice.
template <bool centred>
__global__ void __launch_bounds__(NORM_LONG)
    layernorm_backward_long_rows(heddle_layernorm_shape shape, norm_gradients all)
{
    __shared__ float of_warp[2][HEDDLE_WARPS];
    size_t at = (size_t)blockIdx.x * shape.cols;
    const float *x = all.input + at, *grad = all.grad_output + at;
    float mean = centred ? all.mean[blockIdx.x] : 0, inverse_std = all.inverse_std[blockIdx.x], sum = 0, product = 0;
    for (int j = threadIdx.x; j < shape.cols; j += NORM_LONG) {
        float scaled = grad[j] * all.gamma[j];
        sum += scaled;
        product += scaled * ((x[j] - mean) * inverse_std);
    }
    sum = centred ? heddle_group_sum<NORM_LONG>(sum, of_warp[0]) / shape.cols : 0;
    product = heddle_group_sum<NORM_LONG>(product, of_warp[1]) / shape.cols;
    for (int j = threadIdx.x; j < shape.cols; j += NORM_LONG)
        all.grad_input[at + j] = inverse_std * (grad[j] * all.gamma[j] - sum - (x[j] - mean) * inverse_std * product);
}

enum {
    NORM_TALL = 16,     // threads per column: their sums are added at the end
    NORM_ADD_TALL = 32, // the same for parts: few blocks add them, so that a thread should have few
    NORM_ADD_LOADS = 8, // in flight, per thread
};

// Sum over the threads of a column, in those with threadIdx.y == 0.
__device__ static float norm_column_sum(float (*of_thread)[HEDDLE_WARP], float sum)
{
    of_thread[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y == 0)
        for (unsigned y = 1; y < blockDim.y; y++)
            sum += of_thread[y][threadIdx.x];
    return sum;
}

// ... and their columns: a block takes 32 of them and every gridDim.y-th row.
template <bool centred>
__global__ void layernorm_backward_long_columns(heddle_layernorm_shape shape, norm_gradients all)
{
    __shared__ float of_thread[2][NORM_TALL][HEDDLE_WARP];
    int col = (int)(blockIdx.x * HEDDLE_WARP + threadIdx.x);
    float sum = 0, product = 0;
    for (size_t row = blockIdx.y + threadIdx.y * gridDim.y; col < shape.cols && row < (size_t)shape.rows;
         row += NORM_TALL * gridDim.y) {
        float grad = all.grad_output[row * shape.cols + col];
        sum += grad;
        float mean = centred ? all.mean[row] : 0;
        product += grad * ((all.input[row * shape.cols + col] - mean) * all.inverse_std[row]);
    }
    product = norm_column_sum(of_thread[0], product);
    if (centred)
        sum = norm_column_sum(of_thread[1], sum);
    if (threadIdx.y == 0 && col < shape.cols) {
        all.parts[(size_t)blockIdx.y * shape.cols + col] = product;
        if (centred)
            all.parts[((size_t)gridDim.y + blockIdx.y) * shape.cols + col] = sum;
    }
}

// Adds `count` parts in order: parts (gridDim.y, count, cols) -> grad_gamma and grad_beta: (cols), chosen by
// blockIdx.y.
static __global__ void layernorm_add_parts(int cols, int count, const float *parts, float *grad_gamma, float *grad_beta)
{
    __shared__ float of_thread[NORM_ADD_TALL][HEDDLE_WARP];
    int col = (int)(blockIdx.x * HEDDLE_WARP + threadIdx.x);
    const float *from = parts + (size_t)blockIdx.y * count * cols;
    float sum = 0;
    heddle_wait_for_previous();
    for (int first = threadIdx.y; col < cols && first < count; first += NORM_ADD_LOADS * NORM_ADD_TALL) {
        float more[NORM_ADD_LOADS];
#pragma unroll
        for (int i = 0; i < NORM_ADD_LOADS; i++) {
            int part = first + i * NORM_ADD_TALL;
            more[i] = part < count ? from[(size_t)part * cols + col] : 0;
        }
#pragma unroll
        for (int i = 0; i < NORM_ADD_LOADS; i++)
            sum += more[i];
    }
    sum = norm_column_sum(of_thread, sum);
    if (threadIdx.y == 0 && col < cols)
        (blockIdx.y == 0 ? grad_gamma : grad_beta)[col] = sum;
}

// It starts while the last blocks of the kernel before still run.
template <bool centred>
static void norm_add_parts_queue(int cols, int parts, const float *from, float *grad_gamma, float *grad_beta,
                                 cudaStream_t stream)
{
    heddle_cuda_launch_dependent(layernorm_add_parts, dim3(heddle_ceil_div(cols, HEDDLE_WARP), centred ? 2 : 1),
                                 dim3(HEDDLE_WARP, NORM_ADD_TALL), 0, stream, cols, parts, from, grad_gamma, grad_beta);
}

typedef void norm_backward_kernel(heddle_layernorm_shape shape, norm_gradients all);

// Bytes of shared memory for the sums of a block, or in which its groups meet.
template <bool centred> static size_t norm_sum_bytes(int group)
{
    const int block = heddle_row_threads(group), vectors = heddle_row_groups[group].vectors;
    const int threads = heddle_row_groups[group].threads;
    return block > threads || norm_sums_in_shared(threads, vectors)
               ? (size_t)(centred ? 2 : 1) * vectors * block * sizeof(float4)
               : 0;
}

// The threads for a row; -1: no group holds it, or its sums need more shared memory than a block of this GPU has.
template <bool centred> static int norm_backward_group(int cols)
{
    int group = heddle_row_group_of(cols);
    return group >= 0 && norm_sum_bytes<centred>(group) > (size_t)heddle_cuda_shared_bytes() ? -1 : group;
}

static inline bool norm_backward_aligned(const heddle_layernorm_shape *shape, const norm_gradients *all)
{
    return shape->cols % HEDDLE_VECTOR == 0 && heddle_aligned16(all->input) && heddle_aligned16(all->gamma) &&
           heddle_aligned16(all->grad_output) && heddle_aligned16(all->grad_input);
}

template <bool centred>
static norm_backward_kernel *norm_backward_of(const heddle_layernorm_shape *shape, int group, const norm_gradients *all)
{
#define KERNELS(threads, vectors)                                                                                      \
    {                                                                                                                  \
        layernorm_backward_in_registers<threads, vectors, false, centred>,                                             \
            layernorm_backward_in_registers<threads, vectors, true, centred>                                           \
    }
    static norm_backward_kernel *const kernels[][2] = {HEDDLE_ROW_GROUPS(KERNELS)};
#undef KERNELS
    return kernels[group][norm_backward_aligned(shape, all)];
}

// Blocks for rows in registers: as many as run at once, but no more than there are rows and room for parts.
static inline int norm_backward_blocks(const heddle_layernorm_shape *shape, int group, norm_backward_kernel *kernel,
                                       size_t bytes)
{
    int rows = (int)heddle_row_blocks(group, shape->rows), parts = heddle_layernorm_parts(shape->rows, shape->cols);
    int on_each = 1;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&on_each, kernel, heddle_row_threads(group), bytes);
    int blocks = heddle_cuda_multiprocessors() * (on_each > 0 ? on_each : 1);
    blocks = blocks < rows ? blocks : rows;
    return blocks < parts ? blocks : parts;
}

template <bool centred>
static void norm_backward_queue(const heddle_layernorm_shape *shape, const norm_gradients *all, float *grad_gamma,
                                float *grad_beta, cudaStream_t stream)
{
    dim3 columns(heddle_ceil_div(shape->cols, HEDDLE_WARP), centred ? 2 : 1), threads(HEDDLE_WARP, NORM_TALL);
    int group = norm_backward_group<centred>(shape->cols), parts = heddle_layernorm_parts(shape->rows, shape->cols);
    if (shape->rows > 0 && group >= 0) {
        const size_t bytes = norm_sum_bytes<centred>(group);
        norm_backward_kernel *kernel = norm_backward_of<centred>(shape, group, all);
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
        parts = norm_backward_blocks(shape, group, kernel, bytes);
        kernel<<<parts, heddle_row_threads(group), bytes, stream>>>(*shape, *all);
    } else if (shape->rows > 0) {
        if (all->grad_input)
            layernorm_backward_long_rows<centred><<<shape->rows, NORM_LONG, 0, stream>>>(*shape, *all);
        layernorm_backward_long_columns<centred><<<dim3(columns.x, parts), threads, 0, stream>>>(*shape, *all);
    }
    norm_add_parts_queue<centred>(shape->cols, parts, all->parts, grad_gamma, grad_beta, stream);
}
