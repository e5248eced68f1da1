// What the CUDA rungs of matmul_fp8 share.
#pragma once

#include "heddle/ops.h"

// Rung 3, which takes any shape and alignment: the fallback for what TMA does not accept.
heddle_status heddle_matmul_fp8_half_mma(const heddle_call *call);
