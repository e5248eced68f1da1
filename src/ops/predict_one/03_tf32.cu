// predict_one, rung 3: convolutions on tensor cores, in tf32.
//
// Rung 2's three products become one where tf32's 10 bits of fraction are enough (tensor.h).
//
// Limited by: latency, as rung 1.

#include "ops/predict_one/tensor.h"

static heddle_status launch(const heddle_call *call)
{
    return predict_launch(predict_one<predict_tensor<1>>, "03_tf32", call);
}

HEDDLE_CUDA_RUNG("predict_one", "03_tf32", launch)
