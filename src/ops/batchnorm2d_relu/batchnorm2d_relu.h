// batchnorm2d_relu: its operator and its rungs on the CPU.
#pragma once

#include "heddle/op.h"

extern const heddle_op heddle_op_batchnorm2d_relu;

// batchnorm2d's rungs, then relu (cpu.c).
heddle_status heddle_batchnorm2d_relu_cpu_naive(const heddle_call *call);
heddle_status heddle_batchnorm2d_relu_cpu_channels(const heddle_call *call);
