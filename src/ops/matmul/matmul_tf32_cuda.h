// The tf32 rung of matmul that takes any shape and alignment: what the copy engine refuses goes there.
#ifndef HEDDLE_OPS_MATMUL_TF32_CUDA_H
#define HEDDLE_OPS_MATMUL_TF32_CUDA_H

#include "ops/cuda/rung.h"

heddle_status heddle_matmul_tf32_mma_sync(const heddle_call *call);

#endif
