// shift and stencil: its operators and its rungs.
#pragma once

#include "heddle/op.h"

extern const heddle_op heddle_op_shift, heddle_op_stencil;

heddle_status heddle_shift_cpu_naive(const heddle_call *call);
heddle_status heddle_stencil_cpu_naive(const heddle_call *call);
