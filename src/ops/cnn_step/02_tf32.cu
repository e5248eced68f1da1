// cnn_step, rung 2: operands rounded to tf32 when they are stored, so that nothing is left to split.
//
// Rung 1 spent three products and the splitting on the last bits of float32. Here conv2's output is kept in half, too,
// whose mantissa is as long as tf32's: a third of the step's bytes less.
//
// Limited by: shared memory: an operand takes 4 bytes of it, of which the tensor cores look at 19 bits.

#include "ops/cnn_step/forward.h"
#include "ops/cnn_step/step.h"

static const cnn_step_kernels<cnn_tf32> kernels = {cnn_launch_forward<cnn_tf32>};

static heddle_status launch(const heddle_call *call)
{
    return cnn_step_rung<cnn_tf32>(call, "02_tf32", kernels);
}

static heddle_status launch_train(const heddle_call *call)
{
    return cnn_train_rung<cnn_tf32>(call, "02_tf32", kernels);
}

HEDDLE_CUDA_RUNG("cnn_step", "02_tf32", launch)
HEDDLE_CUDA_RUNG("cnn_train", "02_tf32", launch_train)
