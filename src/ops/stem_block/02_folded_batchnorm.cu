// stem_block inference, rung 2: batchnorm folded into the weights; convolution, relu and pooling in registers.
//
// Rung 1 loads two numbers per multiplication. Here a filter's weights stay in a lane's registers, the image lies in
// shared memory, and a pair of windows is convolved, shifted and pooled before anything is written (apply.h).
//
// Limited by: write bandwidth with one channel, k / 4c times the bytes read; multiplications with more.

#include "ops/stem_block/apply.h"

// folded: (9c + 1, columns): the weight with batchnorm's factor, then the shift; 0 beyond the last filter
__global__ void stem_block_fold_running(heddle_conv_block_shape shape, int columns, const float *weight,
                                        const float *bias, const float *gamma, const float *beta,
                                        const float *running_mean, const float *running_var, float *folded)
{
    int patch = STEM_BLOCK_TAPS * shape.c, at = blockIdx.x * blockDim.x + threadIdx.x;
    int k = at % columns, d = at / columns;
    if (d > patch)
        return;
    float value = 0;
    if (k < shape.k) {
        float scale = gamma[k] / sqrtf(running_var[k] + shape.epsilon);
        float centre = running_mean[k] - (bias ? bias[k] : 0.0f);
        value = d < patch ? scale * weight[(size_t)k * patch + d] : beta[k] - centre * scale;
    }
    folded[at] = value;
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_conv_block_shape &shape = *(const heddle_conv_block_shape *)call->shape;
    const float *const *input = (const float *const *)call->input;
    float *folded = (float *)call->workspace;
    cudaStream_t stream = heddle_cuda_stream_of(call);
    int columns = stem_block_columns(&shape);
    size_t size = (size_t)(STEM_BLOCK_TAPS * shape.c + 1) * columns;
    stem_block_fold_running<<<heddle_cuda_blocks(size), HEDDLE_CUDA_BLOCK, 0, stream>>>(
        shape, columns, input[1], input[2], input[3], input[4], input[5], input[6], folded);
    stem_block_filter_operands of = {input[0], folded, NULL, (float *)call->output[0], NULL};
    stem_block_launch_filter(stream, shape, of);
    return heddle_cuda_launched("02_folded_batchnorm");
}

HEDDLE_CUDA_RUNG("stem_block_inference", "02_folded_batchnorm", launch)
