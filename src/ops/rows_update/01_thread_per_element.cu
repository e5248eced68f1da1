// rows_weights, rows_collect, rows_update, rung 1: one thread per element of a weight, padding included.
//
// Elements are numbered as the parts of the gradients lie, so that these, the most of what is read, come in whole
// lines; the parameter itself and the transposed copy are scattered. A thread finds its segment by halving a table in
// shared memory.
//
// Limited by: bytes.

#include <cuda_bf16.h>

#include "ops/cuda/dependent.h"
#include "ops/cuda/rung.h"
#include "ops/optimizer/step.h"
#include "ops/rows_update/rows_update.h"

typedef heddle_rows_update_shape update_shape;

struct update_operands {
    const int32_t *table;
    const float *parts, *hyper;
    float *parameters, *first_moment, *second_moment; // parameters: the gradients, for rows_collect
    float *vectors;
    __nv_bfloat16 *copies;
};

enum job_kind { WEIGHTS, COLLECT, UPDATE };

// The last segment that begins at `i` or before.
__device__ static const int32_t *segment_of(const int32_t (*table)[HEDDLE_SEGMENT_FIELDS], int segments, int i)
{
    int low = 0, high = segments;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        *(table[middle][HEDDLE_SEGMENT_FIRST] <= i ? &low : &high) = middle;
    }
    return table[low];
}

__device__ static float gradient_of(const int32_t *segment, const float *parts, int i)
{
    const int stride =
        segment[HEDDLE_SEGMENT_PADDED_K] * segment[HEDDLE_SEGMENT_TAPS] * segment[HEDDLE_SEGMENT_PADDED_C];
    const float *from = parts + segment[HEDDLE_SEGMENT_PART] + i;
    float sum = 0;
#pragma unroll 4
    for (int part = 0; part < segment[HEDDLE_SEGMENT_PARTS]; part++)
        sum += from[(size_t)part * stride];
    return sum;
}

// The parameter after its step.
template <int Optimizer>
__device__ static float take_step(const update_operands &on, const float *hyper, float gradient, size_t at)
{
    float parameter = on.parameters[at];
    if (Optimizer == 0)
        sgd_step(gradient, hyper, &parameter);
    else if (Optimizer == 1)
        momentum_step(gradient, hyper, &parameter, &on.first_moment[at]);
    else
        adamw_step(gradient, hyper, &parameter, &on.first_moment[at], &on.second_moment[at]);
    on.parameters[at] = parameter;
    return parameter;
}

template <job_kind Kind, int Optimizer> __global__ void rows_update(const update_shape shape, const update_operands on)
{
    __shared__ int32_t table[HEDDLE_ROWS_MOST_SEGMENTS][HEDDLE_SEGMENT_FIELDS];
    __shared__ float hyper[HEDDLE_HYPER_COUNT];
    for (int i = threadIdx.x; i < shape.segments * HEDDLE_SEGMENT_FIELDS; i += blockDim.x)
        (&table[0][0])[i] = on.table[i];
    heddle_wait_for_previous();
    heddle_release_next();
    if (Kind == UPDATE && threadIdx.x < HEDDLE_HYPER_COUNT)
        hyper[threadIdx.x] = on.hyper[threadIdx.x];
    __syncthreads();
    for (int number = blockIdx.x * blockDim.x + threadIdx.x; number < shape.elements;
         number += gridDim.x * blockDim.x) {
        const int32_t *segment = segment_of(table, shape.segments, number);
        const int i = number - segment[HEDDLE_SEGMENT_FIRST];
        const int taps = segment[HEDDLE_SEGMENT_TAPS], padded_k = segment[HEDDLE_SEGMENT_PADDED_K];
        const int padded_c = segment[HEDDLE_SEGMENT_PADDED_C];
        const int channel = i % padded_c, tap = i / padded_c % taps, row = i / padded_c / taps;
        float value = 0;
        if (row < segment[HEDDLE_SEGMENT_K] && channel < segment[HEDDLE_SEGMENT_C]) {
            const size_t at =
                segment[HEDDLE_SEGMENT_PARAMETER] + ((size_t)row * segment[HEDDLE_SEGMENT_C] + channel) * taps + tap;
            if (Kind == WEIGHTS)
                value = on.parameters[at];
            else if (Kind == COLLECT)
                on.parameters[at] = gradient_of(segment, on.parts, i);
            else
                value = take_step<Optimizer>(on, hyper, gradient_of(segment, on.parts, i), at);
        }
        if (Kind == COLLECT)
            continue;
        if (segment[HEDDLE_SEGMENT_VECTOR] >= 0 && on.vectors)
            on.vectors[segment[HEDDLE_SEGMENT_VECTOR] + i] = value;
        if (segment[HEDDLE_SEGMENT_COPY] >= 0)
            on.copies[segment[HEDDLE_SEGMENT_COPY] + i] = __float2bfloat16(value);
        if (segment[HEDDLE_SEGMENT_TURNED] >= 0)
            on.copies[segment[HEDDLE_SEGMENT_TURNED] +
                      (size_t)(segment[HEDDLE_SEGMENT_FLAT] ? tap * padded_c + channel : channel * taps + tap) *
                          padded_k +
                      row] = __float2bfloat16(value);
    }
}

template <job_kind Kind, int Optimizer>
static heddle_status launch_kernel(const heddle_call *call, const update_operands &on)
{
    const update_shape *shape = (const update_shape *)call->shape;
    const unsigned wanted = heddle_cuda_blocks(shape->elements), most = (unsigned)heddle_cuda_multiprocessors() * 8;
    heddle_cuda_launch_dependent(rows_update<Kind, Optimizer>, dim3(wanted < most ? wanted : most),
                                 dim3(HEDDLE_CUDA_BLOCK), 0, heddle_cuda_stream_of(call), *shape, on);
    return heddle_cuda_launched("01_thread_per_element");
}

static heddle_status launch_weights(const heddle_call *call)
{
    update_operands on = {};
    on.table = (const int32_t *)call->input[0];
    on.parameters = (float *)call->input[1];
    on.copies = (__nv_bfloat16 *)call->output[0];
    on.vectors = (float *)call->output[1];
    return launch_kernel<WEIGHTS, 0>(call, on);
}

static heddle_status launch_collect(const heddle_call *call)
{
    update_operands on = {};
    on.table = (const int32_t *)call->input[0];
    on.parts = (const float *)call->input[1];
    on.parameters = (float *)call->output[0];
    return launch_kernel<COLLECT, 0>(call, on);
}

static heddle_status launch_update(const heddle_call *call)
{
    const update_shape *shape = (const update_shape *)call->shape;
    update_operands on = {};
    on.table = (const int32_t *)call->input[0];
    on.parts = (const float *)call->input[1];
    on.hyper = (const float *)call->input[2];
    on.parameters = (float *)call->output[0];
    on.copies = (__nv_bfloat16 *)call->output[1];
    on.vectors = (float *)call->output[2];
    on.first_moment = (float *)call->output[3];
    on.second_moment = (float *)call->output[4];
    const int optimizer = heddle_rows_optimizer(shape, on.first_moment, on.second_moment);
    return optimizer == 0   ? launch_kernel<UPDATE, 0>(call, on)
           : optimizer == 1 ? launch_kernel<UPDATE, 1>(call, on)
                            : launch_kernel<UPDATE, 2>(call, on);
}

HEDDLE_CUDA_RUNG("rows_weights", "01_thread_per_element", launch_weights)
HEDDLE_CUDA_RUNG("rows_collect", "01_thread_per_element", launch_collect)
HEDDLE_CUDA_RUNG("rows_update", "01_thread_per_element", launch_update)
