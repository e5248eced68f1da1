// The kernels of layernorm's rung 5 and rmsnorm's rung 4: rows on their way to shared memory while others are
// normalised. layernorm/05_prefetched.cu explains them; the rungs bring their operands.
#pragma once

#include "ops/cuda/mma.h"
#include "ops/layernorm/vectorised.h"

enum { NORM_AHEAD = 2 }; // rows of a group on their way, each in its own stage

// Where a block's rows arrive: (stages, tensors, vectors, threads of the block). A thread's slots are its own.
template <int threads, int vectors, int tensors> struct norm_slots {
    static constexpr int block = heddle_row_block(threads), pitch = tensors * vectors * block;
    static constexpr size_t bytes = NORM_AHEAD * pitch * sizeof(float4);
    float4 *mine;

    __device__ norm_slots(float4 *of_block) : mine(of_block + threadIdx.x)
    {
    }
    // Starts the copy of a row, whose first `cols` elements exist.
    __device__ void fetch(int stage, int tensor, const float *row, int cols) const
    {
#pragma unroll
        for (int i = 0; i < vectors; i++) {
            const int col = heddle_row_col<threads, true>(i, 0);
            if (col < cols)
                heddle_copy_once(mine + stage * pitch + (tensor * vectors + i) * block, row + col);
        }
    }
    // Moves a row that has arrived to registers, with `missing` beyond its end.
    __device__ void take(int stage, int tensor, int cols, float missing, float (*value)[HEDDLE_VECTOR]) const
    {
#pragma unroll
        for (int i = 0; i < vectors; i++) {
            float4 taken = make_float4(missing, missing, missing, missing);
            if (heddle_row_col<threads, true>(i, 0) < cols)
                taken = mine[stage * pitch + (tensor * vectors + i) * block];
            value[i][0] = taken.x;
            value[i][1] = taken.y;
            value[i][2] = taken.z;
            value[i][3] = taken.w;
        }
    }
};

// Rows of a group: every gridDim.x-th block of rows has one.
template <int threads> struct norm_rows {
    static constexpr int together = heddle_row_block(threads) / threads; // rows per block
    size_t count, step = (size_t)gridDim.x * together;
    int cols;

    __device__ norm_rows(const heddle_layernorm_shape &shape) : count((size_t)shape.rows), cols(shape.cols)
    {
    }
    __device__ int cols_of(size_t row) const
    {
        return row < count ? cols : 0; // beyond the last row, a group has no work
    }
};

// Blocks per SM for which the compiler leaves registers, where it can without spilling and shared memory has room for
// so many: rows of 513 to 768 columns. Of others it decides.
constexpr int norm_forward_blocks(int threads, int vectors)
{
    return threads == HEDDLE_WARP && vectors == 6 ? 8 : 1;
}

constexpr int norm_backward_blocks(int threads, int vectors)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    return threads == HEDDLE_WARP && vectors == 6 ? 4 : 1;
#else
    return (void)threads, (void)vectors, 1;
#endif
}

// --- forward --------------------------------------------------------------------------------------------------------

template <int threads, int vectors, bool centred>
__global__ void __launch_bounds__(heddle_row_block(threads), norm_forward_blocks(threads, vectors))
    layernorm_prefetched(heddle_layernorm_shape shape, norm_forward of)
{
    extern __shared__ float4 of_block[];
    __shared__ float of_warp[NORM_AHEAD][HEDDLE_WARPS]; // by stage: some threads still read one while others write the
                                                        // next
    __shared__ float2 pair_of_warp[NORM_AHEAD][HEDDLE_WARPS];
    const norm_slots<threads, vectors, 1> slots(of_block);
    const norm_rows<threads> rows(shape);
    size_t row = heddle_group_row<threads>();
    for (int ahead = 0; ahead < NORM_AHEAD; ahead++) {
        const size_t next = row + ahead * rows.step;
        slots.fetch(ahead, 0, of.input + next * shape.cols, rows.cols_of(next));
        cp_async_commit();
    }
    int stage = 0;
    // All groups of a block take part in the last turn, for the barriers.
    for (size_t first = (size_t)blockIdx.x * rows.together; first < rows.count; first += rows.step) {
        const size_t next = row + NORM_AHEAD * rows.step;
        const int cols = rows.cols_of(row);
        float value[vectors][HEDDLE_VECTOR];
        cp_async_wait_group<NORM_AHEAD - 1>();
        slots.take(stage, 0, cols, 0, value);
        slots.fetch(stage, 0, of.input + next * shape.cols, rows.cols_of(next));
        cp_async_commit();
        norm_finish_row<threads, vectors, true, centred>(shape, of, row, cols, value, of_warp[stage],
                                                         pair_of_warp[stage]);
        row += rows.step;
        stage = (stage + 1) % NORM_AHEAD;
    }
}

// Blocks that run at once; 0: so much shared memory is not there.
template <typename Kernel> static int norm_resident_blocks(Kernel kernel, int threads, size_t bytes)
{
    int on_each = 0;
    if (bytes > (size_t)heddle_cuda_shared_bytes())
        return 0;
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&on_each, kernel, threads, bytes);
    return heddle_cuda_multiprocessors() * on_each;
}

// At most so many that each group has rows to prefetch.
static inline int norm_prefetched_blocks(int group, int rows, int resident)
{
    const int turns = NORM_AHEAD + 1, most = ((int)heddle_row_blocks(group, rows) + turns - 1) / turns;
    return resident < most ? resident : most;
}

// False: not for these rows, whose kernels are rung 4's.
template <bool centred>
static bool norm_forward_prefetched(const heddle_layernorm_shape *shape, const norm_forward *of, cudaStream_t stream)
{
    typedef struct forward_kernel {
        void (*kernel)(heddle_layernorm_shape shape, norm_forward of);
        size_t bytes;
    } forward_kernel;
#define KERNEL(threads, vectors)                                                                                       \
    {                                                                                                                  \
        layernorm_prefetched<threads, vectors, centred>, norm_slots<threads, vectors, 1>::bytes                        \
    }
    static const forward_kernel kernels[] = {HEDDLE_ROW_GROUPS(KERNEL)};
#undef KERNEL
    const int group = heddle_row_group_of(shape->cols);
    if (shape->rows == 0 || group < 0 || !norm_forward_aligned(shape, of))
        return false;
    const forward_kernel &one = kernels[group];
    const int resident = norm_resident_blocks(one.kernel, heddle_row_threads(group), one.bytes);
    if (resident == 0)
        return false;
    one.kernel<<<norm_prefetched_blocks(group, shape->rows, resident), heddle_row_threads(group), one.bytes, stream>>>(
        *shape, *of);
    return true;
}

// --- backward -------------------------------------------------------------------------------------------------------

template <int threads, int vectors, bool centred>
__global__ void __launch_bounds__(heddle_row_block(threads), norm_backward_blocks(threads, vectors))
    layernorm_backward_prefetched(heddle_layernorm_shape shape, norm_gradients all)
{
    constexpr int block = heddle_row_block(threads);
    extern __shared__ float4 of_block[]; // where rows arrive; at the end, for the sums of the columns
    __shared__ float2 of_warp[NORM_AHEAD][HEDDLE_WARPS];
    const norm_slots<threads, vectors, 2> slots(of_block);
    const norm_rows<threads> rows(shape);
    norm_column_sums<vectors, block, false> gamma_sums(of_block);
    norm_column_sums<centred ? vectors : 1, block, false> beta_sums(of_block + vectors * block);
    size_t row = heddle_group_row<threads>();
    for (int ahead = 0; ahead < NORM_AHEAD; ahead++) {
        const size_t next = row + ahead * rows.step;
        slots.fetch(ahead, 0, all.input + next * shape.cols, rows.cols_of(next));
        slots.fetch(ahead, 1, all.grad_output + next * shape.cols, rows.cols_of(next));
        cp_async_commit();
    }
    // Of the row, and of the one after.
    float mean = centred && row < rows.count ? all.mean[row] : 0, mean_after = 0;
    float inverse_std = row < rows.count ? all.inverse_std[row] : 0, inverse_std_after = 0;
    int stage = 0;
    for (size_t first = (size_t)blockIdx.x * rows.together; first < rows.count; first += rows.step) {
        const size_t after = row + rows.step, next = row + NORM_AHEAD * rows.step;
        const int cols = rows.cols_of(row);
        float x[vectors][HEDDLE_VECTOR], grad[vectors][HEDDLE_VECTOR];
        if (after < rows.count) {
            mean_after = centred ? all.mean[after] : 0;
            inverse_std_after = all.inverse_std[after];
        }
        cp_async_wait_group<NORM_AHEAD - 1>();
        slots.take(stage, 0, cols, mean, x);
        slots.take(stage, 1, cols, 0, grad);
        slots.fetch(stage, 0, all.input + next * shape.cols, rows.cols_of(next));
        slots.fetch(stage, 1, all.grad_output + next * shape.cols, rows.cols_of(next));
        cp_async_commit();
        norm_backward_row<threads, vectors, true, centred>(shape, all, row, cols, mean, inverse_std, x, grad,
                                                           &gamma_sums, &beta_sums, of_warp[stage]);
        row = after;
        mean = mean_after;
        inverse_std = inverse_std_after;
        stage = (stage + 1) % NORM_AHEAD;
    }
    norm_store_sums<threads, true, centred>(shape, all, gamma_sums, beta_sums);
}

typedef struct norm_prefetched_kernel {
    norm_backward_kernel *kernel;
    size_t bytes;
} norm_prefetched_kernel;

// None for the largest group: a block's registers and shared memory do not hold its rows and sums.
template <int threads, int vectors, bool centred> static norm_prefetched_kernel norm_backward_prefetched_of()
{
    if constexpr (norm_sums_in_shared(threads, vectors))
        return norm_prefetched_kernel{nullptr, 0};
    else
        return norm_prefetched_kernel{layernorm_backward_prefetched<threads, vectors, centred>,
                                      norm_slots<threads, vectors, 2>::bytes};
}

// False: not for these rows, whose kernels are rung 4's.
template <bool centred>
static bool norm_backward_prefetched(const heddle_layernorm_shape *shape, const norm_gradients *all, float *grad_gamma,
                                     float *grad_beta, cudaStream_t stream)
{
#define KERNEL(threads, vectors) norm_backward_prefetched_of<threads, vectors, centred>()
    static const norm_prefetched_kernel kernels[] = {HEDDLE_ROW_GROUPS(KERNEL)};
#undef KERNEL
    const int group = heddle_row_group_of(shape->cols), room = heddle_layernorm_parts(shape->rows, shape->cols);
    if (shape->rows == 0 || group < 0 || !kernels[group].kernel || !norm_backward_aligned(shape, all))
        return false;
    const norm_prefetched_kernel &one = kernels[group];
    const int resident = norm_resident_blocks(one.kernel, heddle_row_threads(group), one.bytes);
    const int blocks = norm_prefetched_blocks(group, shape->rows, resident < room ? resident : room);
    if (blocks == 0)
        return false;
    one.kernel<<<blocks, heddle_row_threads(group), one.bytes, stream>>>(*shape, *all);
    norm_add_parts_queue<centred>(shape->cols, blocks, all->parts, grad_gamma, grad_beta, stream);
    return true;
}
