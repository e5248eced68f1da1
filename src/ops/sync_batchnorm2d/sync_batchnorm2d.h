// sync_batchnorm2d: its operators.
#ifndef HEDDLE_OPS_SYNC_BATCHNORM2D_H
#define HEDDLE_OPS_SYNC_BATCHNORM2D_H

#include "heddle/op.h"

extern const heddle_op heddle_op_sync_batchnorm2d_moments, heddle_op_sync_batchnorm2d_apply,
    heddle_op_sync_batchnorm2d_sums, heddle_op_sync_batchnorm2d_input_gradient;

#endif
