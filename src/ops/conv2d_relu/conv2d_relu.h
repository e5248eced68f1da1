// conv2d_bias_relu: its operator and its rungs on the CPU.
#pragma once

#include "heddle/op.h"

extern const heddle_op heddle_op_conv2d_bias_relu;

// conv2d's rungs, then relu (cpu.c).
heddle_status heddle_conv2d_bias_relu_cpu_naive(const heddle_call *call);
heddle_status heddle_conv2d_bias_relu_cpu_im2col(const heddle_call *call);
heddle_status heddle_conv2d_bias_relu_cpu_direct(const heddle_call *call);
heddle_status heddle_conv2d_bias_relu_cpu_winograd(const heddle_call *call);
