// Rung 5 of attention in 16 bits, which takes any shape and alignment: the fallback for what TMA does not accept.
#pragma once

#include "ops/attention/attention.h"

heddle_status heddle_attention_bf16_forward_mma_sync(const heddle_call *call);
heddle_status heddle_attention_fp16_forward_mma_sync(const heddle_call *call);
heddle_status heddle_attention_bf16_backward_mma_sync(const heddle_call *call);
heddle_status heddle_attention_fp16_backward_mma_sync(const heddle_call *call);
