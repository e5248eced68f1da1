// sgd, momentum and adamw: their operators, rungs, and the arithmetic of one parameter.
#pragma once

#include "heddle/op.h"

extern const heddle_op heddle_op_sgd_update, heddle_op_momentum_update, heddle_op_adamw_update;

// Hyper-parameters that tests take.
void heddle_optimizer_fill_hyper(uint64_t seed, double *values);

heddle_status heddle_sgd_update_cpu_naive(const heddle_call *call);
heddle_status heddle_momentum_update_cpu_naive(const heddle_call *call);
heddle_status heddle_adamw_update_cpu_naive(const heddle_call *call);
heddle_status heddle_sgd_update_cpu_vectorised(const heddle_call *call);
heddle_status heddle_momentum_update_cpu_vectorised(const heddle_call *call);
heddle_status heddle_adamw_update_cpu_vectorised(const heddle_call *call);
