// The tf32 rung of matmul that takes any shape and alignment: the fallback for what TMA does not accept.
#pragma once

#include "ops/cuda/rung.h"

heddle_status heddle_matmul_tf32_mma_sync(const heddle_call *call);
