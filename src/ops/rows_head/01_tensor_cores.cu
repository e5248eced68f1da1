// rows_head, rung 1: sixteen samples per block, both products by mma.sync.
//
// logits.h has the way to the softmax. The gradients of the logits are left in shared memory, and each warp multiplies
// them by its groups of features, which it still has: the samples in registers, the weight in shared memory, where
// ldmatrix turns it, its words placed so that a lane's sums are eight neighbours, one access of 16 bytes. Meanwhile one
// more warp stores the loss of the block's samples, the number of correct ones, and the sums of the gradients before
// they are rounded, which are those of the bias; the last block to arrive adds these in order.
//
// Limited by: latency.

#include "ops/cuda/dependent.h"
#include "ops/cuda/loss_sum.h"
#include "ops/cuda/rung.h"
#include "ops/cuda/vector.h"
#include "ops/rows_conv/functions.h"
#include "ops/rows_head/logits.h"
#include "ops/rows_head/rows_head.h"

typedef heddle_rows_head_shape head_shape;

static_assert((int)LOGITS_SAMPLES == (int)HEDDLE_ROWS_HEAD_SAMPLES, "a block has a part of the workspace");

enum { TURNED_PITCH = 20 }; // words of a class's features: ldmatrix and the stores hit every bank once

template <typename Element> struct head_operands {
    const Element *input, *weight;
    const float *bias, *grad_loss;
    const int32_t *labels;
    float *loss;
    int32_t *correct;
    Element *grad_logits, *grad_input;
    int *arrived;
    double *parts;                 // (blocks, 2)
    float *grad_bias, *bias_parts; // (k), (blocks, Columns)
};

template <typename Element, int Columns> struct head_kind {
    enum {
        PLANES = rows_layout<Element>::ELEMENTS,
        GROUPS = PLANES * Columns > 32 ? 2 : 4, // of features, that a warp keeps
        PASSES = LOGITS_SAMPLES * Columns / LOGITS_THREADS,
        SPAN = GROUPS * LOGITS_WARPS * LOGITS_GROUP, // features that a block has at a time
    };
    typedef typename rows_layout<Element>::type type;
    // A warp's groups of the weight, by classes: each word where ldmatrix will turn it to.
    typedef uint32_t turned[LOGITS_WARPS][GROUPS][PLANES][Columns][TURNED_PITCH];
};

template <typename Element, int Columns> struct head_room {
    typedef typename head_kind<Element, Columns>::type type;

    logits_room<Columns> logits;
    double losses[LOGITS_WARPS], rights[LOGITS_WARPS];
    // Upper and lower halves: rounded once more, the products would be less exact.
    type grads[2][LOGITS_SAMPLES][Columns + 8];

    __device__ void keep(int sample, int column, float gradient)
    {
        const type upper = grads[0][sample][column] = rows_element<type>::round(gradient);
        grads[1][sample][column] =
            rows_element<type>::round((gradient - rows_element<type>::number(upper)) * rows_pair_scale);
    }
    __device__ float gradient(int sample, int column) const
    {
        typedef rows_element<type> element;
        return element::number(grads[0][sample][column]) +
               element::number(grads[1][sample][column]) * rows_pair_unscale;
    }
    // The words of a lane, for 16 samples by 16 classes.
    __device__ void read(int plane, int step, uint32_t (&words)[4]) const
    {
        const int row = threadIdx.x % 32 / 4, column = step * 16 + threadIdx.x % 4 * 2;
#pragma unroll
        for (int i = 0; i < 4; i++)
            words[i] = *(const uint32_t *)&grads[plane][row + i % 2 * 8][column + i / 2 * 8];
    }
};

// A warp's share of the work for 16 samples, from `first` on.
template <typename Element, bool Aligned, int Columns> struct head_work {
    typedef head_kind<Element, Columns> kind;
    typedef typename kind::type type;

    const head_shape &shape;
    const head_operands<Element> &on;
    head_room<Element, Columns> &room;
    typename kind::turned &turned;
    int first;
    float unit; // of gradients
    logits_given given[kind::PASSES];
    logits_groups<Aligned, Element, Columns, kind::GROUPS> groups;

    // Loads the weight of a round of features, from `begin` on, and leaves it to be turned.
    __device__ void load_weight(int begin)
    {
        const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
        __syncwarp(); // the turned weight of the round before has been read
        groups.load_weight(on.weight, shape.c, shape.k, begin);
#pragma unroll
        for (int group = 0; group < kind::GROUPS; group++)
#pragma unroll
            for (int plane = 0; plane < kind::PLANES; plane++)
#pragma unroll
                for (int tile = 0; tile < Columns / 8; tile++)
#pragma unroll
                    for (int i = 0; i < 4; i++)
                        turned[warp][group][plane][tile * 8 + lane / 4][i * 4 + lane % 4] =
                            groups.w[group][plane][tile][i];
    }
    __device__ void load_input(int begin)
    {
        groups.load_input(on.input, shape.n, shape.c, first, begin);
    }
    // The weight of the first round is there.
    __device__ void begin()
    {
        load_input(0);
#pragma unroll
        for (int pass = 0; pass < kind::PASSES; pass++)
            given[pass] = logits_give<Columns>(on.bias, on.labels, shape.n, shape.k, first, pass);
        unit = ldexpf(*on.grad_loss / (float)shape.n, shape.scale);
        float sums[Columns / 8][4] = {}, lower[Columns / 8][4] = {};
        groups.multiply(sums, lower);
        for (int begin = kind::SPAN; begin < shape.c; begin += kind::SPAN) {
            load_input(begin);
            load_weight(begin);
            groups.multiply(sums, lower);
        }
        logits_keep<Columns>(sums, lower, room.logits);
    }
    // The losses of the samples, and the gradients of their logits.
    __device__ void differentiate()
    {
        double loss = 0, correct = 0;
#pragma unroll
        for (int pass = 0; pass < kind::PASSES; pass++) {
            const logits_given &own = given[pass];
            const logits_one one = logits_softmax<Columns>(room.logits, own, shape.n, shape.classes, first);
            const float gradient =
                own.row < shape.n ? unit * (one.probability - (own.column == own.label ? 1.0f : 0.0f)) : 0.0f;
            room.keep(own.row - first, own.column, gradient);
            if (own.row < shape.n && own.column < shape.k)
                rows_write(on.grad_logits, own.row, shape.k, own.column, gradient);
            logits_count<Columns>(one, &loss, &correct);
        }
        if (threadIdx.x % 32 == 0) {
            room.losses[threadIdx.x / 32] = loss;
            room.rights[threadIdx.x / 32] = correct;
        }
    }
    // The sums of the block's gradients, by one warp, whose lanes share a class.
    __device__ void add_samples() const
    {
        const int lane = threadIdx.x % 32, column = lane % Columns;
        float sum = 0;
#pragma unroll
        for (int sample = lane / Columns; sample < LOGITS_SAMPLES; sample += 32 / Columns)
            sum += room.gradient(sample, column);
        for (int distance = Columns; distance < 32; distance *= 2)
            sum += __shfl_xor_sync(~0u, sum, distance);
        if (lane < Columns)
            on.bias_parts[blockIdx.x * Columns + lane] = sum;
    }
    // The sums of all blocks' sums, by a warp of the last block to arrive.
    __device__ void add_blocks() const
    {
        const int lane = threadIdx.x % 32;
        float sum = 0;
#pragma unroll 32
        for (int block = lane / Columns; block < (int)gridDim.x; block += 32 / Columns)
            sum += on.bias_parts[block * Columns + lane % Columns];
        for (int distance = Columns; distance < 32; distance *= 2)
            sum += __shfl_xor_sync(~0u, sum, distance);
        if (lane < shape.k)
            on.grad_bias[lane] = sum;
    }
    // Gradients of logits by the weight's columns, for one group of features.
    __device__ void multiply(int group, float (&sums)[4][4], float (&lower)[4][4]) const
    {
        const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#pragma unroll
        for (int step = 0; step < Columns / 16; step++) {
            uint32_t a[2][4], b[kind::PLANES][2];
            room.read(0, step, a[0]);
            room.read(1, step, a[1]);
#pragma unroll
            for (int i = 0; i < 4; i++) {
#pragma unroll
                for (int plane = 0; plane < kind::PLANES; plane++)
                    ldmatrix_x2_transposed(b[plane], &turned[warp][group][plane][step * 16 + lane % 16][i * 4]);
                mma16(sums[i], a[0], b[0], type());
                mma16(lower[i], a[1], b[0], type());
                if (kind::PLANES == 2)
                    mma16(lower[i], a[0], b[kind::PLANES - 1], type());
            }
        }
    }
    // A feature's value, from what the lane has loaded.
    __device__ float feature(int group, int half, int i) const
    {
        typedef rows_element<type> element;
        const float2 upper = element::floats(*(const typename element::pair *)&groups.x[group][0][half][i / 2]);
        float value = i % 2 ? upper.y : upper.x;
        if (kind::PLANES == 2) {
            const float2 lower =
                element::floats(*(const typename element::pair *)&groups.x[group][kind::PLANES - 1][half][i / 2]);
            value += (i % 2 ? lower.y : lower.x) * rows_pair_unscale;
        }
        return value;
    }
    __device__ void store(int begin) const
    {
        const int lane = threadIdx.x % 32;
#pragma unroll
        for (int group = 0; group < kind::GROUPS; group++) {
            const int column = groups.column_of(begin, group);
            if (column - lane % 4 * ROWS8 >= shape.c) // the whole warp's
                break;
            float sums[4][4] = {}, lower[4][4] = {};
            multiply(group, sums, lower);
#pragma unroll
            for (int half = 0; half < 2; half++) {
                const int row = first + half * 8 + lane / 4;
                rows8 result;
#pragma unroll
                for (int i = 0; i < ROWS8; i++)
                    result.v[i] = (sums[i / 2][2 * half + i % 2] + lower[i / 2][2 * half + i % 2] * rows_pair_unscale) *
                                  rows_slope(shape.function, feature(group, half, i));
                if (column < shape.c && row < shape.n)
                    rows8_store<Aligned>(rows_at(on.grad_input, (size_t)row * shape.c + column, column), shape.c,
                                         result);
            }
        }
    }
    // The features' gradients. The last round is still here.
    __device__ void end()
    {
        const int last = (shape.c - 1) / kind::SPAN * kind::SPAN;
        __syncwarp();
        store(last);
        for (int begin = 0; begin < last; begin += kind::SPAN) {
            load_input(begin);
            load_weight(begin);
            __syncwarp();
            store(begin);
        }
    }
};

// One more warp adds up the losses, which takes as long as the rest.
enum { HEAD_THREADS = LOGITS_THREADS + 32 };

template <typename Element, bool Aligned, int Columns>
__global__ void __launch_bounds__(HEAD_THREADS) rows_head(const head_shape shape, const head_operands<Element> on)
{
    extern __shared__ uint4 turned[];
    __shared__ head_room<Element, Columns> room;
    typedef typename head_kind<Element, Columns>::turned turned_weight;
    head_work<Element, Aligned, Columns> work = {shape, on, room, *(turned_weight *)turned};
    const bool adds = threadIdx.x >= LOGITS_THREADS;
    double loss = 0, correct = 0;
    work.first = blockIdx.x * LOGITS_SAMPLES;
    if (!adds)
        work.load_weight(0); // it was written before the previous kernel
    heddle_wait_for_previous();
    heddle_release_next();
    if (!adds)
        work.begin();
    __syncthreads();
    if (!adds)
        work.differentiate();
    __syncthreads();
    for (int warp = 0; adds && warp < LOGITS_WARPS; warp++) {
        loss += room.losses[warp];
        correct += room.rights[warp];
    }
    if (!adds) {
        work.end();
        return;
    }
    if (on.grad_bias)
        work.add_samples();
    double total[2];
    if (!loss_sum_blocks(loss, correct, on.parts, on.arrived, total))
        return;
    if (on.grad_bias)
        work.add_blocks();
    if (threadIdx.x % 32 == 0) {
        *on.loss = (float)(total[0] / shape.n);
        *on.correct = (int32_t)total[1];
    }
}

template <typename Element, int Columns>
static heddle_status launch_columns(const heddle_call *call, const head_operands<Element> &on)
{
    const head_shape *shape = (const head_shape *)call->shape;
    const bool aligned = heddle_aligned16(on.input) && heddle_aligned16(on.weight) && heddle_aligned16(on.grad_input);
    const auto kernel = aligned ? rows_head<Element, true, Columns> : rows_head<Element, false, Columns>;
    const size_t bytes = sizeof(typename head_kind<Element, Columns>::turned);
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    heddle_cuda_launch_dependent(kernel, dim3(heddle_ceil_div(shape->n, LOGITS_SAMPLES)), dim3(HEAD_THREADS), bytes,
                                 heddle_cuda_stream_of(call), *shape, on);
    return heddle_cuda_launched("01_tensor_cores");
}

template <typename Element> static heddle_status launch_with(const heddle_call *call)
{
    const head_shape *shape = (const head_shape *)call->shape;
    head_operands<Element> on = {};
    on.input = (const Element *)call->input[0];
    on.weight = (const Element *)call->input[1];
    on.bias = (const float *)call->input[2];
    on.labels = (const int32_t *)call->input[3];
    on.grad_loss = (const float *)call->input[4];
    on.loss = (float *)call->output[0];
    on.correct = (int32_t *)call->output[1];
    on.grad_logits = (Element *)call->output[2];
    on.grad_input = (Element *)call->output[3];
    on.arrived = (int *)call->output[4];
    on.grad_bias = (float *)call->output[5];
    on.parts = (double *)call->workspace;
    on.bias_parts = (float *)(on.parts + 2 * heddle_ceil_div(shape->n, LOGITS_SAMPLES));
    return shape->k <= 16 ? launch_columns<Element, 16>(call, on) : launch_columns<Element, 32>(call, on);
}

static heddle_status launch(const heddle_call *call)
{
    return ROWS_WITH_ELEMENT(head_shape, launch_with, call);
}

HEDDLE_CUDA_RUNG("rows_head", "01_tensor_cores", launch)
