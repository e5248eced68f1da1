// What the tf32 rungs of matmul share, among them and with those of linear.
#pragma once

#include "heddle/ops.h"
#include "ops/cuda/rung.h"

// The tf32 rung that takes any shape and alignment: the fallback for what TMA does not accept.
heddle_status heddle_matmul_tf32_mma_sync(const heddle_call *call);

// Rung 14's product of the call's first two inputs, a (m, k) and b (n, k), plus a bias (n), which may be NULL, to its
// first output. For what TMA accepts.
heddle_status heddle_matmul_tf32_persistent(const heddle_call *call, const heddle_matmul_shape *shape,
                                            const float *bias, const char *rung);
