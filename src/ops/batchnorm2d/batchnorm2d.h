// batchnorm2d: its operators and its rungs.
#ifndef HEDDLE_OPS_BATCHNORM2D_H
#define HEDDLE_OPS_BATCHNORM2D_H

#include "heddle/op.h"

extern const heddle_op heddle_op_batchnorm2d_forward, heddle_op_batchnorm2d_backward, heddle_op_batchnorm2d_inference;

heddle_status heddle_batchnorm2d_forward_cpu_naive(const heddle_call *call);
heddle_status heddle_batchnorm2d_backward_cpu_naive(const heddle_call *call);
heddle_status heddle_batchnorm2d_inference_cpu_naive(const heddle_call *call);
heddle_status heddle_batchnorm2d_forward_cpu_channels(const heddle_call *call);
heddle_status heddle_batchnorm2d_backward_cpu_channels(const heddle_call *call);
heddle_status heddle_batchnorm2d_inference_cpu_channels(const heddle_call *call);

#endif
