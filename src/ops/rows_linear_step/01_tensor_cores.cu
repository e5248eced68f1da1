// rows_linear_step, rung 1: one block per tile of 64 by 128 weights.
//
// With few rows a gradient is a small product, and most of the time goes to the weights and moments. They are a step
// old: a thread starts to copy its share of them to shared memory, 16 bytes at a time, before it waits for the kernel
// before. Both operands have rows where a product sums: ldmatrix transposes them. The sums pass through shared memory,
// so that a warp stores whole lines of weights. The blocks of the first columns also add the columns of grad_output,
// the gradient of the bias, if it is not given.
//
// Pairs are multiplied in three products, the mixed ones first; around these, the sums are scaled by 2048 and back,
// which is exact.
//
// Limited by: the L2 cache's bandwidth.

#include "ops/cuda/dependent.h"
#include "ops/cuda/mma16.h"
#include "ops/cuda/swizzled.h"
#include "ops/rows_linear_step/step.h"

enum {
    WARPS = 8,
    THREADS = WARPS * 32,
    TILE_K = 64,    // columns of grad_output: rows of the weight
    TILE_C = 128,   // columns of the input
    WARP_TILE = 32, // of both, per warp
    STAGE_ROWS = 64,
    STAGES = 2,
    K_BYTES = TILE_K * 2, // of a row of a stage
    C_BYTES = TILE_C * 2,
    PLANE_BYTES = STAGE_ROWS * (K_BYTES + C_BYTES), // of a stage; of pairs, it has two
    SUMS_PITCH = TILE_C + 8,                        // floats: rows begin eight banks apart
    SUMS_BYTES = TILE_K * SUMS_PITCH * (int)sizeof(float),
    TILE_WEIGHTS = TILE_K * TILE_C,
    SHARES = THREADS / TILE_K, // threads that share a column of grad_output
};

// Starts to copy one plane of a tile of `Columns` columns of a matrix (rows, columns); zeros beyond it.
template <int Columns, typename Element>
__device__ static void load_tile(unsigned char *tile, const void *matrix, int rows, int columns, int row, int column,
                                 int plane, bool aligned)
{
    const int chunks = Columns / ROWS8;
#pragma unroll
    for (int i = 0; i < STAGE_ROWS * chunks; i += THREADS) {
        const int in_row = (i + (int)threadIdx.x) / chunks, chunk = (i + (int)threadIdx.x) % chunks;
        const int at_row = row + in_row, at_column = column + chunk * ROWS8;
        const uint16_t *from =
            (const uint16_t *)matrix + ((size_t)at_row * rows_layout<Element>::ELEMENTS + plane) * columns + at_column;
        unsigned char *place = tile + swizzled_at<Columns * 2>(in_row, chunk);
        if (at_row >= rows || at_column >= columns)
            *(uint4 *)place = make_uint4(0, 0, 0, 0);
        else if (aligned)
            cp_async_16(place, from);
        else
            *(uint4 *)place = rows8_sixteen_bytes<false>(from);
    }
}

template <typename Element>
__device__ static void load_stage(const step_shape &shape, const step_operands &on, unsigned char *stages, int stage,
                                  int k, int c)
{
    unsigned char *place = stages + stage % STAGES * rows_layout<Element>::ELEMENTS * PLANE_BYTES;
#pragma unroll
    for (int plane = 0; plane < rows_layout<Element>::ELEMENTS; plane++, place += PLANE_BYTES) {
        load_tile<TILE_K, Element>(place, on.grad_output, shape.n, shape.k, stage * STAGE_ROWS, k, plane, on.aligned);
        load_tile<TILE_C, Element>(place + STAGE_ROWS * K_BYTES, on.input, shape.n, shape.c, stage * STAGE_ROWS, c,
                                   plane, on.aligned);
    }
}

// A warp's sums: two tiles of 16 rows by four of 8 columns.
struct warp_sums {
    float v[WARP_TILE / 16][WARP_TILE / 8][4];

    __device__ void scale(float factor)
    {
#pragma unroll
        for (int i = 0; i < WARP_TILE / 16; i++)
#pragma unroll
            for (int j = 0; j < WARP_TILE / 8; j++)
#pragma unroll
                for (int e = 0; e < 4; e++)
                    v[i][j][e] *= factor;
    }

    // Adds the product of a stage's grad_output, transposed, and its input.
    template <typename Type> __device__ void multiply(const unsigned char *grads, const unsigned char *inputs)
    {
        const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, matrix = lane / 8;
        const int k = warp % (TILE_K / WARP_TILE) * WARP_TILE, c = warp / (TILE_K / WARP_TILE) * WARP_TILE;
#pragma unroll 2
        for (int row = 0; row < STAGE_ROWS; row += 16) {
            uint32_t a[WARP_TILE / 16][4], b[WARP_TILE / 8][2];
#pragma unroll
            for (int i = 0; i < WARP_TILE / 16; i++)
                ldmatrix_x4_transposed(
                    a[i], grads + swizzled_at<K_BYTES>(row + matrix / 2 * 8 + lane % 8, k / 8 + i * 2 + matrix % 2));
#pragma unroll
            for (int j = 0; j < WARP_TILE / 8; j += 2) {
                uint32_t two[4];
                ldmatrix_x4_transposed(
                    two, inputs + swizzled_at<C_BYTES>(row + matrix % 2 * 8 + lane % 8, c / 8 + j + matrix / 2));
                b[j][0] = two[0], b[j][1] = two[1], b[j + 1][0] = two[2], b[j + 1][1] = two[3];
            }
#pragma unroll
            for (int i = 0; i < WARP_TILE / 16; i++)
#pragma unroll
                for (int j = 0; j < WARP_TILE / 8; j++)
                    mma16(v[i][j], a[i], b[j], Type());
        }
    }

    __device__ void keep(float *sums) const
    {
        const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
        sums += (warp % (TILE_K / WARP_TILE) * WARP_TILE + lane / 4) * SUMS_PITCH +
                warp / (TILE_K / WARP_TILE) * WARP_TILE + lane % 4 * 2;
#pragma unroll
        for (int i = 0; i < WARP_TILE / 16; i++)
#pragma unroll
            for (int j = 0; j < WARP_TILE / 8; j++)
#pragma unroll
                for (int half = 0; half < 2; half++)
                    *(float2 *)&sums[(i * 16 + half * 8) * SUMS_PITCH + j * 8] =
                        make_float2(v[i][j][2 * half], v[i][j][2 * half + 1]);
    }
};

// A thread's share of the sum of one column of grad_output: every fourth row of a stage.
template <typename Type> __device__ static float add_column(const unsigned char *grads)
{
    const int column = threadIdx.x % TILE_K;
    float sum = 0;
#pragma unroll
    for (int row = threadIdx.x / TILE_K; row < STAGE_ROWS; row += SHARES)
        sum += rows_element<Type>::number(
            ((const Type *)(grads + swizzled_at<K_BYTES>(row, column / ROWS8)))[column % ROWS8]);
    return sum;
}

// All rows; returns this thread's share of its column of grad_output, if the block adds them.
template <typename Element>
__device__ static float multiply_all(const step_shape &shape, const step_operands &on, unsigned char *stages, int k,
                                     int c, bool adds, warp_sums *sums)
{
    typedef typename rows_layout<Element>::type type;
    const int count = (shape.n + STAGE_ROWS - 1) / STAGE_ROWS;
    float column = 0;
    load_stage<Element>(shape, on, stages, 0, k, c);
    cp_async_commit();
    for (int stage = 0; stage < count; stage++) {
        if (stage + 1 < count)
            load_stage<Element>(shape, on, stages, stage + 1, k, c);
        cp_async_commit();
        cp_async_wait_group<1>();
        __syncthreads();
        const unsigned char *grads = stages + stage % STAGES * rows_layout<Element>::ELEMENTS * PLANE_BYTES;
        const unsigned char *inputs = grads + STAGE_ROWS * K_BYTES;
        if (rows_layout<Element>::ELEMENTS == 2) {
            sums->scale(rows_pair_scale);
            sums->template multiply<type>(grads + PLANE_BYTES, inputs);
            sums->template multiply<type>(grads, inputs + PLANE_BYTES);
            sums->scale(rows_pair_unscale);
        }
        sums->template multiply<type>(grads, inputs);
        if (adds)
            column += add_column<type>(grads) + (rows_layout<Element>::ELEMENTS == 2
                                                     ? add_column<type>(grads + PLANE_BYTES) * rows_pair_unscale
                                                     : 0.0f);
        __syncthreads(); // the stage may be loaded again, or hold sums
    }
    return column;
}

// The weights of a tile and their moments in shared memory.
template <int Optimizer> struct held_tile {
    update_arrays held;

    __device__ held_tile(const update_arrays &of, float *place)
    {
        held = {place, place + TILE_WEIGHTS, place + 2 * TILE_WEIGHTS, of.unit};
    }
    // Starts to copy a thread's four weights of one row.
    __device__ void copy(const update_arrays &from, size_t at, int row)
    {
        const int to = row * TILE_C + (int)threadIdx.x % 32 * 4;
        cp_async_16(held.parameters + to, from.parameters + at);
        if (Optimizer >= 1)
            cp_async_16(held.first_moment + to, from.first_moment + at);
        if (Optimizer == 2)
            cp_async_16(held.second_moment + to, from.second_moment + at);
    }
    // Their step, given the sums of their gradients.
    __device__ float4 step(const update_arrays &to, size_t at, int row, float4 sums, const float *hyper)
    {
        update_four<UPDATE, Optimizer> four;
        four.load(held, row * TILE_C + (int)threadIdx.x % 32 * 4);
        four.step(held, sums, hyper);
        four.store(to, at);
        return four.value;
    }
};

// The step of the biases of a tile; shares: (SHARES, TILE_K), of the sums of their gradients
template <int Optimizer>
__device__ static void step_bias(const step_shape &shape, const step_operands &on, const float (*shares)[TILE_K], int k,
                                 const float *hyper)
{
    const int row = k + threadIdx.x;
    if (threadIdx.x >= TILE_K || row >= shape.outputs)
        return;
    float sum = on.grad_bias ? on.grad_bias[row] : 0.0f;
#pragma unroll
    for (int i = 0; i < SHARES; i++)
        sum += shares[i][threadIdx.x];
    step_bias_one<Optimizer>(on, row, sum, hyper);
}

// grid: tiles of the weight. Vectors: four weights at a time, in one access each; a warp has every eighth row of a
// tile.
template <typename Element, int Optimizer, bool Vectors>
__global__ void __launch_bounds__(THREADS, 2)
    rows_linear_step(const step_shape shape, const step_operands on, int stages_bytes)
{
    extern __shared__ __align__(16) unsigned char shared[];
    __shared__ float shares[SHARES][TILE_K], hyper[HEDDLE_HYPER_COUNT];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, k = blockIdx.x * TILE_K, c = blockIdx.y * TILE_C;
    const int rows = Vectors && c + lane * 4 < shape.inputs ? min((int)TILE_K, shape.outputs - k) : 0;
    const float *from = (const float *)shared;
    held_tile<Optimizer> tile(on.weight, (float *)(shared + stages_bytes));
    for (int row = warp; row < rows; row += WARPS)
        tile.copy(on.weight, (size_t)(k + row) * shape.inputs + c + lane * 4, row);
    heddle_wait_for_previous();
    heddle_release_next();
    if (threadIdx.x < HEDDLE_HYPER_COUNT)
        hyper[threadIdx.x] = on.hyper[threadIdx.x];
    warp_sums sums = {};
    const bool steps_bias = on.bias.parameters && c == 0;
    const float column = multiply_all<Element>(shape, on, shared, k, c, steps_bias && !on.grad_bias, &sums);
    sums.keep((float *)shared);
    shares[threadIdx.x / TILE_K][threadIdx.x % TILE_K] = column;
    cp_async_wait_all();
    __syncthreads();
#pragma unroll 4
    for (int row = warp; row < rows; row += WARPS) {
        const float4 value = tile.step(on.weight, (size_t)(k + row) * shape.inputs + c + lane * 4, row,
                                       *(const float4 *)&from[row * SUMS_PITCH + lane * 4], hyper);
        rows_write_four((Element *)on.copy, (size_t)(k + row) * shape.c + c + lane * 4, k + row, shape.c, value);
    }
    for (int i = threadIdx.x; !Vectors && i < TILE_WEIGHTS; i += THREADS) {
        const int row = i / TILE_C, at = c + i % TILE_C;
        if (k + row < shape.outputs && at < shape.inputs)
            rows_write((Element *)on.copy, k + row, shape.c, at,
                       step_one<Optimizer>(on.weight, (size_t)(k + row) * shape.inputs + at,
                                           from[row * SUMS_PITCH + i % TILE_C], hyper));
    }
    if (steps_bias)
        step_bias<Optimizer>(shape, on, shares, k, hyper);
}

template <typename Element, int Optimizer>
static heddle_status launch_step(const heddle_call *call, const step_operands &on)
{
    const step_shape *shape = (const step_shape *)call->shape;
    const int stage_bytes = rows_layout<Element>::ELEMENTS * PLANE_BYTES;
    const int held_bytes = (1 + Optimizer) * TILE_WEIGHTS * (int)sizeof(float);
    const int stages = min((int)STAGES, (int)heddle_ceil_div(shape->n, STAGE_ROWS));
    const int stages_bytes = max((int)SUMS_BYTES, stages * stage_bytes);
    auto kernel = on.vectors ? rows_linear_step<Element, Optimizer, true> : rows_linear_step<Element, Optimizer, false>;
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                         max((int)SUMS_BYTES, STAGES * stage_bytes) + held_bytes);
    heddle_cuda_launch_dependent(
        kernel, dim3(heddle_ceil_div(shape->outputs, TILE_K), heddle_ceil_div(shape->inputs, TILE_C)), dim3(THREADS),
        stages_bytes + held_bytes, heddle_cuda_stream_of(call), *shape, on, stages_bytes);
    return heddle_cuda_launched("01_tensor_cores");
}

template <typename Element> static heddle_status launch_with(const heddle_call *call)
{
    const step_operands on = step_operands_of(call);
    const int optimizer =
        heddle_linear_step_optimizer((const step_shape *)call->shape, (const void *const *)call->output);
    return optimizer == 0   ? launch_step<Element, 0>(call, on)
           : optimizer == 1 ? launch_step<Element, 1>(call, on)
                            : launch_step<Element, 2>(call, on);
}

heddle_status heddle_linear_step_tensor_cores(const heddle_call *call)
{
    return ROWS_WITH_ELEMENT(step_shape, launch_with, call);
}

HEDDLE_CUDA_RUNG("rows_linear_step", "01_tensor_cores", heddle_linear_step_tensor_cores)
