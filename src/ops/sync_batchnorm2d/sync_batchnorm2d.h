// sync_batchnorm2d: its operators.
#pragma once

#include "heddle/op.h"

extern const heddle_op heddle_op_sync_batchnorm2d_moments, heddle_op_sync_batchnorm2d_apply,
    heddle_op_sync_batchnorm2d_sums, heddle_op_sync_batchnorm2d_input_gradient;
