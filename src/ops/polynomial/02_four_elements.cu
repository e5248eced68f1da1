// polynomial, rung 2: four elements per thread, by 16-byte loads and stores.
//
// Rung 1 paid for the loop with every element. Here one iteration is a round of four elements, whose multiply-adds do
// not wait for each other. If an operand is not aligned to 16 bytes, its elements are loaded one by one; that costs a
// few instructions out of thousands.
//
// Limited by: the multiply-add units; with few rounds, memory bandwidth.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"
#include "ops/cuda/vector.h"

// input, output: (n); the thread's elements are [first, first + 4), cut off at n.
template <bool aligned>
__global__ void polynomial_four(int n, int rounds, float factor, float addend, const float *input, float *output)
{
    const size_t first = HEDDLE_VECTOR * ((size_t)blockIdx.x * blockDim.x + threadIdx.x);
    if (first + HEDDLE_VECTOR <= (size_t)n) {
        float4 value = heddle_load4<aligned>(input + first);
        for (int round = 0; round < rounds; round++)
            value = make_float4(fmaf(value.x, factor, addend), fmaf(value.y, factor, addend),
                                fmaf(value.z, factor, addend), fmaf(value.w, factor, addend));
        heddle_store4<aligned>(output + first, value);
        return;
    }
    for (size_t i = first; i < (size_t)n; i++) {
        float value = input[i];
        for (int round = 0; round < rounds; round++)
            value = fmaf(value, factor, addend);
        output[i] = value;
    }
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_polynomial_shape *shape = (const heddle_polynomial_shape *)call->shape;
    const float *input = (const float *)call->input[0];
    float *output = (float *)call->output[0];
    const unsigned blocks = heddle_cuda_blocks(heddle_ceil_div(shape->n, HEDDLE_VECTOR));
    cudaStream_t stream = heddle_cuda_stream_of(call);
    if (shape->n > 0 && heddle_aligned16(input) && heddle_aligned16(output))
        polynomial_four<true><<<blocks, HEDDLE_CUDA_BLOCK, 0, stream>>>(shape->n, shape->rounds, shape->factor,
                                                                        shape->addend, input, output);
    else if (shape->n > 0)
        polynomial_four<false><<<blocks, HEDDLE_CUDA_BLOCK, 0, stream>>>(shape->n, shape->rounds, shape->factor,
                                                                         shape->addend, input, output);
    return heddle_cuda_launched("02_four_elements");
}

HEDDLE_CUDA_RUNG("polynomial", "02_four_elements", launch)
