// cross_entropy, rung 2: one group of threads per row, held in registers; all threads add the rows.
//
// Rung 1 gave a row to one thread, which read it three times, and the sum of all rows to one more. Here a group of
// threads that fits the row (row_group.h: from 4 threads for ten classes to 512) reads it once, 16 bytes per load, and
// finds together its largest value, the first position of that value, and the sum. Losses are added in double, in a
// fixed order, by blocks and then by one block. Backward, the same groups process the rows.
//
// Rows whose length is not a multiple of 4, or whose start is not 16-byte aligned, are moved 4 bytes at a time. Rows
// too long for any group are read three times by a block of 1024 threads.
//
// Limited by: memory bandwidth; with ten classes, by the 8 bytes per row that go to the workspace and back.

#include "heddle/ops.h"
#include "ops/cross_entropy/cross_entropy.h"
#include "ops/cuda/row_group.h"
#include "ops/cuda/rung.h"

enum {
    LONG = 1024, // threads for a row too long for any group
    LONG_VECTORS = 2,
    PIECE = LONG * LONG_VECTORS * HEDDLE_VECTOR,
    ADDING = 256, // threads per block that adds rows
};

__device__ static bool is_class(const heddle_rows_shape &shape, int32_t label)
{
    return label >= 0 && label < shape.cols;
}

// --- forward: rows --------------------------------------------------------------------------------------------------

// The largest value seen, and its first column; INFINITY: nothing seen. Columns are floats, so that a group can reduce
// both the same way; up to 2^24 they are exact.
typedef struct largest {
    float value, col;
} largest;

// Processes a thread's elements, which come in the order of their columns. `first`: column of the piece.
template <int threads, int vectors, bool aligned>
__device__ static void look_at(largest *seen, const float (*value)[HEDDLE_VECTOR], int first, int cols)
{
#pragma unroll
    for (int i = 0; i < vectors; i++)
#pragma unroll
        for (int k = 0; k < HEDDLE_VECTOR; k++) {
            int col = heddle_row_col<threads, aligned>(i, k);
            if (col < cols - first && (seen->col == INFINITY || value[i][k] > seen->value)) {
                seen->value = value[i][k];
                seen->col = (float)(first + col);
            }
        }
}

// Of the group. of_warp: (2, WARPS)
template <int threads> __device__ static largest group_largest(largest mine, float (*of_warp)[HEDDLE_WARPS])
{
    float most = heddle_group_max<threads>(mine.value, of_warp[0]);
    float col = mine.value == most ? mine.col : INFINITY;
    return largest{most, -heddle_group_max<threads>(-col, of_warp[1])};
}

// value: exp(value - most); returns the sum.
template <int vectors> __device__ static float exp_sum(float (*value)[HEDDLE_VECTOR], float most)
{
    float sum = 0;
#pragma unroll
    for (int i = 0; i < vectors; i++)
#pragma unroll
        for (int k = 0; k < HEDDLE_VECTOR; k++) {
            value[i][k] = expf(value[i][k] - most);
            sum += value[i][k];
        }
    return sum;
}

template <int vectors> __device__ static void scale_all(float (*value)[HEDDLE_VECTOR], float scale)
{
#pragma unroll
    for (int i = 0; i < vectors; i++)
#pragma unroll
        for (int k = 0; k < HEDDLE_VECTOR; k++)
            value[i][k] *= scale;
}

// A kernel cannot report a label that is not a class: the loss becomes NaN, and nothing is read beyond the row.
__device__ static heddle_cross_entropy_row row_result(const heddle_rows_shape &shape, const float *x, int32_t label,
                                                      largest best, float sum)
{
    float loss = is_class(shape, label) ? logf(sum) + best.value - x[label] : NAN;
    return heddle_cross_entropy_row{loss, best.col == (float)label};
}

// logits and probabilities: (rows, cols), labels and results: (rows)
template <int threads, int vectors, bool aligned>
__global__ void __launch_bounds__(heddle_row_block(threads))
    cross_entropy_in_registers(heddle_rows_shape shape, const float *logits, const int32_t *labels,
                               float *probabilities, heddle_cross_entropy_row *results)
{
    __shared__ float of_warp[3][HEDDLE_WARPS];
    size_t row = heddle_group_row<threads>();
    int cols = row < (size_t)shape.rows ? shape.cols : 0; // beyond the last row, a group has no work
    const float *x = logits + row * shape.cols;
    float value[vectors][HEDDLE_VECTOR];
    heddle_row_load<threads, vectors, aligned>(x, cols, -INFINITY, value);

    largest best = {-INFINITY, INFINITY};
    look_at<threads, vectors, aligned>(&best, value, 0, cols);
    best = group_largest<threads>(best, of_warp);
    float sum = heddle_group_sum<threads>(exp_sum<vectors>(value, best.value), of_warp[2]);

    scale_all<vectors>(value, 1 / sum);
    heddle_row_store<threads, vectors, aligned>(probabilities + row * shape.cols, cols, value);
    if (cols > 0 && heddle_group_lane<threads>() == 0)
        results[row] = row_result(shape, x, labels[row], best, sum);
}

template <bool aligned>
__global__ void __launch_bounds__(LONG)
    cross_entropy_long_rows(heddle_rows_shape shape, const float *logits, const int32_t *labels, float *probabilities,
                            heddle_cross_entropy_row *results)
{
    __shared__ float of_warp[3][HEDDLE_WARPS];
    const float *x = logits + (size_t)blockIdx.x * shape.cols;
    float *y = probabilities + (size_t)blockIdx.x * shape.cols, value[LONG_VECTORS][HEDDLE_VECTOR], sum = 0;
    largest best = {-INFINITY, INFINITY};
    for (int first = 0; first < shape.cols; first += PIECE) {
        heddle_row_load<LONG, LONG_VECTORS, aligned>(x + first, shape.cols - first, -INFINITY, value);
        look_at<LONG, LONG_VECTORS, aligned>(&best, value, first, shape.cols);
    }
    best = group_largest<LONG>(best, of_warp);
    for (int first = 0; first < shape.cols; first += PIECE) {
        heddle_row_load<LONG, LONG_VECTORS, aligned>(x + first, shape.cols - first, -INFINITY, value);
        sum += exp_sum<LONG_VECTORS>(value, best.value);
    }
    sum = heddle_group_sum<LONG>(sum, of_warp[2]);
    for (int first = 0; first < shape.cols; first += PIECE) {
        heddle_row_load<LONG, LONG_VECTORS, aligned>(x + first, shape.cols - first, -INFINITY, value);
        exp_sum<LONG_VECTORS>(value, best.value);
        scale_all<LONG_VECTORS>(value, 1 / sum);
        heddle_row_store<LONG, LONG_VECTORS, aligned>(y + first, shape.cols - first, value);
    }
    if (threadIdx.x == 0)
        results[blockIdx.x] = row_result(shape, x, labels[blockIdx.x], best, sum);
}

// --- forward: their sum ---------------------------------------------------------------------------------------------

// Losses of some rows, and how many of them are predicted correctly.
typedef struct rows_sum {
    double loss;
    int32_t correct;
} rows_sum;

// Over the block, in thread 0, always in the same order.
__device__ static rows_sum block_total(rows_sum mine)
{
    __shared__ rows_sum tree[ADDING];
    tree[threadIdx.x] = mine;
    for (int distance = ADDING / 2; distance > 0; distance /= 2) {
        __syncthreads();
        if (threadIdx.x < distance) {
            tree[threadIdx.x].loss += tree[threadIdx.x + distance].loss;
            tree[threadIdx.x].correct += tree[threadIdx.x + distance].correct;
        }
    }
    return tree[threadIdx.x];
}

// sums: (gridDim.x)
__global__ void __launch_bounds__(ADDING)
    cross_entropy_add_rows(int rows, const heddle_cross_entropy_row *results, rows_sum *sums)
{
    rows_sum sum = {0, 0};
    for (size_t row = (size_t)blockIdx.x * ADDING + threadIdx.x; row < (size_t)rows;
         row += (size_t)gridDim.x * ADDING) {
        sum.loss += results[row].loss;
        sum.correct += results[row].correct;
    }
    sum = block_total(sum);
    if (threadIdx.x == 0)
        sums[blockIdx.x] = sum;
}

// One block, one thread per sum.
__global__ void __launch_bounds__(ADDING)
    cross_entropy_add_sums(int rows, int count, const rows_sum *sums, float *loss, int32_t *correct)
{
    rows_sum sum = {0, 0};
    if ((int)threadIdx.x < count)
        sum = sums[threadIdx.x];
    sum = block_total(sum);
    if (threadIdx.x == 0) {
        *loss = (float)(sum.loss / rows);
        *correct = sum.correct;
    }
}

typedef void forward_kernel(heddle_rows_shape shape, const float *logits, const int32_t *labels, float *probabilities,
                            heddle_cross_entropy_row *results);

static heddle_status launch_forward(const heddle_call *call)
{
#define KERNELS(threads, vectors)                                                                                      \
    {                                                                                                                  \
        cross_entropy_in_registers<threads, vectors, false>, cross_entropy_in_registers<threads, vectors, true>        \
    }
    static forward_kernel *const kernels[][2] = {HEDDLE_ROW_GROUPS(KERNELS)};
#undef KERNELS
    const heddle_rows_shape *shape = (const heddle_rows_shape *)call->shape;
    const float *logits = (const float *)call->input[0];
    const int32_t *labels = (const int32_t *)call->input[1];
    float *probabilities = (float *)call->output[1];
    bool aligned = shape->cols % HEDDLE_VECTOR == 0 && heddle_aligned16(logits) && heddle_aligned16(probabilities);
    unsigned adding = heddle_ceil_div(shape->rows, ADDING), most = ADDING;
    adding = adding < most ? adding : most;
    rows_sum *sums = (rows_sum *)call->workspace; // (ADDING), before the rows
    heddle_cross_entropy_row *results = (heddle_cross_entropy_row *)(sums + ADDING);
    cudaStream_t stream = heddle_cuda_stream_of(call);
    int group = heddle_row_group_of(shape->cols);
    if (group >= 0)
        kernels[group][aligned]<<<heddle_row_blocks(group, shape->rows), heddle_row_threads(group), 0, stream>>>(
            *shape, logits, labels, probabilities, results);
    else
        (aligned ? cross_entropy_long_rows<true> : cross_entropy_long_rows<false>)<<<shape->rows, LONG, 0, stream>>>(
            *shape, logits, labels, probabilities, results);
    cross_entropy_add_rows<<<adding, ADDING, 0, stream>>>(shape->rows, results, sums);
    cross_entropy_add_sums<<<1, ADDING, 0, stream>>>(shape->rows, (int)adding, sums, (float *)call->output[0],
                                                     (int32_t *)call->output[2]);
    return heddle_cuda_launched("02_row_in_registers");
}

// --- backward -------------------------------------------------------------------------------------------------------

// grad_logits = (probabilities - (col == label)) * grad_loss / rows. Nothing is summed: a row longer than its group
// holds is processed in pieces.
template <int threads, int vectors, bool aligned>
__global__ void __launch_bounds__(heddle_row_block(threads))
    cross_entropy_backward_rows(heddle_rows_shape shape, const float *probabilities, const int32_t *labels,
                                const float *grad_loss, float *grad_logits)
{
    size_t row = heddle_group_row<threads>();
    if (row >= (size_t)shape.rows)
        return;
    int32_t label = labels[row];
    float scale = *grad_loss / (float)shape.rows, right = is_class(shape, label) ? 0 : NAN;
    for (int first = 0; first < shape.cols; first += threads * vectors * HEDDLE_VECTOR) {
        size_t at = row * shape.cols + first;
        float value[vectors][HEDDLE_VECTOR];
        heddle_row_load<threads, vectors, aligned>(probabilities + at, shape.cols - first, 0, value);
#pragma unroll
        for (int i = 0; i < vectors; i++)
#pragma unroll
            for (int k = 0; k < HEDDLE_VECTOR; k++) {
                bool expected = first + heddle_row_col<threads, aligned>(i, k) == label;
                value[i][k] = (value[i][k] - (expected ? 1.0f : right)) * scale;
            }
        heddle_row_store<threads, vectors, aligned>(grad_logits + at, shape.cols - first, value);
    }
}

typedef void backward_kernel(heddle_rows_shape shape, const float *probabilities, const int32_t *labels,
                             const float *grad_loss, float *grad_logits);

static heddle_status launch_backward(const heddle_call *call)
{
#define KERNELS(threads, vectors)                                                                                      \
    {                                                                                                                  \
        cross_entropy_backward_rows<threads, vectors, false>, cross_entropy_backward_rows<threads, vectors, true>      \
    }
    static backward_kernel *const kernels[][2] = {HEDDLE_ROW_GROUPS(KERNELS)};
#undef KERNELS
    const heddle_rows_shape *shape = (const heddle_rows_shape *)call->shape;
    const float *probabilities = (const float *)call->input[0];
    float *grad_logits = (float *)call->output[0];
    bool aligned = shape->cols % HEDDLE_VECTOR == 0 && heddle_aligned16(probabilities) && heddle_aligned16(grad_logits);
    int group = heddle_row_group_of(shape->cols);
    group = group < 0 ? heddle_row_group_count() - 1 : group;
    kernels[group][aligned]<<<heddle_row_blocks(group, shape->rows), heddle_row_threads(group), 0,
                              heddle_cuda_stream_of(call)>>>(*shape, probabilities, (const int32_t *)call->input[1],
                                                             (const float *)call->input[2], grad_logits);
    return heddle_cuda_launched("02_row_in_registers");
}

HEDDLE_CUDA_RUNG("cross_entropy_forward", "02_row_in_registers", launch_forward)
HEDDLE_CUDA_RUNG("cross_entropy_backward", "02_row_in_registers", launch_backward)
