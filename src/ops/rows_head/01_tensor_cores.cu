// rows_head, rung 1: sixteen samples per block, both products by mma.sync.
//
// logits.h has the way to the softmax. The gradients of the logits are left in shared memory, too. Then each warp
// multiplies them by its groups of features: the weight, which lies by classes, is turned in shared memory, its words
// placed so that a lane's sums are eight neighbours, one access of 16 bytes. Each block stores the loss of its samples
// and the number of correct ones; the last block to arrive adds these in order.
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

enum { TURNED_PITCH = 20 }; // words of a class's features: ldmatrix and the stores hit every bank once

template <typename Element> struct head_operands {
    const Element *input, *weight;
    const float *bias, *grad_loss;
    const int32_t *labels;
    float *loss;
    int32_t *correct;
    Element *grad_logits, *grad_input;
    int *arrived;
    double *parts; // (blocks, 2)
};

template <typename Element, int Columns> struct head_room {
    enum { PLANES = rows_layout<Element>::ELEMENTS, PITCH = Columns + 8 };
    typedef typename rows_layout<Element>::type type;

    union {
        logits_room<Columns> logits;
        uint4 turned[LOGITS_WARPS][PLANES][Columns][TURNED_PITCH / 4]; // when the logits have been read
    };
    type grads[2][LOGITS_SAMPLES][PITCH]; // upper and lower halves: rounded once more, the products would be less exact

    __device__ void keep(int sample, int column, float gradient)
    {
        const type upper = grads[0][sample][column] = rows_element<type>::round(gradient);
        grads[1][sample][column] =
            rows_element<type>::round((gradient - rows_element<type>::number(upper)) * rows_pair_scale);
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

// The loss of the block's samples, from `first` on, and the gradients of their logits.
template <typename Element, int Columns>
__device__ static void differentiate(const head_shape &shape, const head_operands<Element> &on, int first,
                                     head_room<Element, Columns> &room, double *loss, double *correct)
{
    const float unit = ldexpf(*on.grad_loss / (float)shape.n, shape.scale);
#pragma unroll
    for (int pass = 0; pass < LOGITS_SAMPLES * Columns / LOGITS_THREADS; pass++) {
        const logits_one one =
            logits_softmax<Columns>(room.logits, on.bias, on.labels, shape.n, shape.k, shape.classes, first, pass);
        const bool there = one.row < shape.n;
        const float hit = there && one.column == on.labels[one.row] ? 1.0f : 0.0f;
        const float gradient = there ? unit * (one.probability - hit) : 0.0f;
        logits_count<Columns>(one, loss, correct);
        if (there && one.column < shape.k)
            rows_write(on.grad_logits, one.row, shape.k, one.column, gradient);
        room.keep(one.row - first, one.column, gradient);
    }
    __syncthreads();
}

// The gradients of a warp's group of features: gradients of logits by the weight's columns.
template <typename Element, bool Aligned, int Columns>
__device__ static void multiply_group(const head_shape &shape, const head_operands<Element> &on, int column,
                                      head_room<Element, Columns> &room, float (&sums)[4][4], float (&lower)[4][4])
{
    typedef head_room<Element, Columns> kind;
    typedef typename kind::type type;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#pragma unroll
    for (int plane = 0; plane < (int)kind::PLANES; plane++)
#pragma unroll
        for (int first = 0; first < Columns; first += 8) {
            const int row = first + lane / 4;
            uint32_t words[4];
            logits_load<Aligned>(on.weight, row, shape.c, column, plane, column < shape.c && row < shape.k, words);
#pragma unroll
            for (int i = 0; i < 4; i++)
                ((uint32_t *)room.turned[warp][plane][row])[i * 4 + lane % 4] = words[i];
        }
    __syncwarp();
#pragma unroll
    for (int step = 0; step < Columns / 16; step++) {
        uint32_t a[2][4], b[kind::PLANES][2];
        room.read(0, step, a[0]);
        room.read(1, step, a[1]);
#pragma unroll
        for (int i = 0; i < 4; i++) {
#pragma unroll
            for (int plane = 0; plane < (int)kind::PLANES; plane++)
                ldmatrix_x2_transposed(b[plane], &room.turned[warp][plane][step * 16 + lane % 16][i]);
            mma16(sums[i], a[0], b[0], type());
            mma16(lower[i], a[1], b[0], type());
            if (kind::PLANES == 2)
                mma16(lower[i], a[0], b[kind::PLANES - 1], type());
        }
    }
    __syncwarp(); // before the next group is turned
}

template <typename Element, bool Aligned, int Columns>
__device__ static void store_gradients(const head_shape &shape, const head_operands<Element> &on, int first,
                                       head_room<Element, Columns> &room)
{
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#pragma unroll 2
    for (int group = warp * LOGITS_GROUP; group < shape.c; group += LOGITS_WARPS * LOGITS_GROUP) {
        const int column = group + lane % 4 * ROWS8;
        float sums[4][4] = {}, lower[4][4] = {};
        multiply_group<Element, Aligned, Columns>(shape, on, column, room, sums, lower);
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const int row = first + half * 8 + lane / 4;
            if (column >= shape.c || row >= shape.n)
                continue;
            const size_t at = (size_t)row * shape.c + column;
            const rows8 x = rows8_load<Aligned>(rows_at(on.input, at, column), shape.c);
            rows8 result;
#pragma unroll
            for (int i = 0; i < ROWS8; i++)
                result.v[i] = (sums[i / 2][2 * half + i % 2] + lower[i / 2][2 * half + i % 2] * rows_pair_unscale) *
                              rows_slope(shape.function, x.v[i]);
            rows8_store<Aligned>(rows_at(on.grad_input, at, column), shape.c, result);
        }
    }
}

template <typename Element, bool Aligned, int Columns>
__global__ void __launch_bounds__(LOGITS_THREADS) rows_head(const head_shape shape, const head_operands<Element> on)
{
    __shared__ head_room<Element, Columns> room;
    heddle_wait_for_previous();
    heddle_release_next();
    double loss = 0, correct = 0;
    for (int first = blockIdx.x * LOGITS_SAMPLES; first < shape.n; first += gridDim.x * LOGITS_SAMPLES) {
        logits_add_features<Aligned>(on.input, on.weight, shape.n, shape.c, shape.k, first, room.logits);
        differentiate<Element, Columns>(shape, on, first, room, &loss, &correct);
        store_gradients<Element, Aligned, Columns>(shape, on, first, room);
        __syncthreads(); // the next samples' logits take the place of the turned weight
    }
    double total[2];
    if (loss_sum<LOGITS_WARPS>(loss, correct, on.parts, on.arrived, total)) {
        *on.loss = (float)(total[0] / shape.n);
        *on.correct = (int32_t)total[1];
    }
}

template <typename Element, int Columns>
static heddle_status launch_columns(const heddle_call *call, const head_operands<Element> &on)
{
    const head_shape *shape = (const head_shape *)call->shape;
    const unsigned wanted = heddle_ceil_div(shape->n, LOGITS_SAMPLES), most = HEDDLE_ROWS_HEAD_BLOCKS;
    const bool aligned = heddle_aligned16(on.input) && heddle_aligned16(on.weight) && heddle_aligned16(on.grad_input);
    heddle_cuda_launch_dependent(aligned ? rows_head<Element, true, Columns> : rows_head<Element, false, Columns>,
                                 dim3(wanted < most ? wanted : most), dim3(LOGITS_THREADS), 0,
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
    on.parts = (double *)call->workspace;
    return shape->k <= 16 ? launch_columns<Element, 16>(call, on) : launch_columns<Element, 32>(call, on);
}

static heddle_status launch(const heddle_call *call)
{
    return ROWS_WITH_ELEMENT(head_shape, launch_with, call);
}

HEDDLE_CUDA_RUNG("rows_head", "01_tensor_cores", launch)
