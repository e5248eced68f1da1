// The tf32 rung of matmul that takes any shape and alignment: what the copy engine refuses goes there.
#pragma once

#include "ops/cuda/rung.h"

heddle_status heddle_matmul_tf32_mma_sync(const heddle_call *call);
