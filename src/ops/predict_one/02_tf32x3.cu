// predict_one, rung 2: convolutions on tensor cores, nearly in float32.
//
// Rung 1 spends most of a convolution on shared memory. Here a factor is the sum of two numbers in tf32, and three
// products of these are added: all but the one of both lower parts, which is below float32's last bit (tensor.h).
// Linear layers stay in float32: with one row, their weights' way from memory is the limit.
//
// Limited by: latency, as rung 1.

#include "ops/predict_one/tensor.h"

static heddle_status launch(const heddle_call *call)
{
    return predict_launch(predict_one<predict_tensor<3>>, "02_tf32x3", call);
}

HEDDLE_CUDA_RUNG("predict_one", "02_tf32x3", launch)
