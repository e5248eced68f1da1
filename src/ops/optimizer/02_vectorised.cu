// Optimisers, rung 2: four parameters per thread, each array by 16-byte loads and stores.
//
// It takes a quarter of rung 1's requests for the same bytes. It is launched while the kernel before it still runs, and
// waits for that kernel's gradients (ops/cuda/dependent.h).
//
// Limited by: memory bandwidth; for a network of some hundred thousand parameters by the latency of memory.

#include "heddle/ops.h"
#include "ops/cuda/dependent.h"
#include "ops/cuda/rung.h"
#include "ops/cuda/vector.h"
#include "ops/optimizer/step.h"

typedef enum optimizer_kind { SGD, MOMENTUM, ADAMW } optimizer_kind;

// A parameter's step; states that an optimiser does not have are not touched.
template <optimizer_kind kind>
__device__ static void step(float grad, const float *hyper, float decay, float *parameter, float *first, float *second)
{
    if (kind == SGD)
        sgd_step(grad, hyper, decay, parameter);
    else if (kind == MOMENTUM)
        momentum_step(grad, hyper, decay, parameter, first);
    else
        adamw_step(grad, hyper, decay, parameter, first, second);
}

// grad, parameter and states: (n), hyper: (HEDDLE_HYPER_COUNT)
template <optimizer_kind kind, bool aligned>
__global__ void optimizer_vectorised(heddle_update_shape shape, const float *grad, const float *hyper, float *parameter,
                                     float *first, float *second)
{
    size_t begin = HEDDLE_VECTOR * ((size_t)blockIdx.x * blockDim.x + threadIdx.x);
    heddle_wait_for_previous();
    heddle_release_next();
    const size_t n = shape.n, decayed = n - shape.undecayed;
    const float decay = hyper[HEDDLE_HYPER_WEIGHT_DECAY];
    if (begin + HEDDLE_VECTOR > n) {
        for (size_t i = begin; i < n; i++)
            step<kind>(grad[i], hyper, i < decayed ? decay : 0, parameter + i, kind > SGD ? first + i : NULL,
                       kind > MOMENTUM ? second + i : NULL);
        return;
    }
    float4 slope = heddle_load4<aligned>(grad + begin), value = heddle_load4<aligned>(parameter + begin);
    float4 one = make_float4(0, 0, 0, 0), two = one;
    if (kind > SGD)
        one = heddle_load4<aligned>(first + begin);
    if (kind > MOMENTUM)
        two = heddle_load4<aligned>(second + begin);
    step<kind>(slope.x, hyper, begin < decayed ? decay : 0, &value.x, &one.x, &two.x);
    step<kind>(slope.y, hyper, begin + 1 < decayed ? decay : 0, &value.y, &one.y, &two.y);
    step<kind>(slope.z, hyper, begin + 2 < decayed ? decay : 0, &value.z, &one.z, &two.z);
    step<kind>(slope.w, hyper, begin + 3 < decayed ? decay : 0, &value.w, &one.w, &two.w);
    heddle_store4<aligned>(parameter + begin, value);
    if (kind > SGD)
        heddle_store4<aligned>(first + begin, one);
    if (kind > MOMENTUM)
        heddle_store4<aligned>(second + begin, two);
}

template <optimizer_kind kind> static heddle_status launch(const heddle_call *call)
{
    const heddle_update_shape shape = *(const heddle_update_shape *)call->shape;
    const float *grad = (const float *)call->input[0], *hyper = (const float *)call->input[1];
    float *parameter = (float *)call->output[0];
    float *first = kind > SGD ? (float *)call->output[1] : NULL,
          *second = kind > MOMENTUM ? (float *)call->output[2] : NULL;
    unsigned blocks = heddle_cuda_blocks(heddle_ceil_div(shape.n, HEDDLE_VECTOR));
    bool aligned =
        heddle_aligned16(grad) && heddle_aligned16(parameter) && heddle_aligned16(first) && heddle_aligned16(second);
    if (blocks > 0)
        heddle_cuda_launch_dependent(aligned ? optimizer_vectorised<kind, true> : optimizer_vectorised<kind, false>,
                                     blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call), shape, grad, hyper,
                                     parameter, first, second);
    return heddle_cuda_launched("02_vectorised");
}

HEDDLE_CUDA_RUNG("sgd_update", "02_vectorised", launch<SGD>)
HEDDLE_CUDA_RUNG("momentum_update", "02_vectorised", launch<MOMENTUM>)
HEDDLE_CUDA_RUNG("adamw_update", "02_vectorised", launch<ADAMW>)
