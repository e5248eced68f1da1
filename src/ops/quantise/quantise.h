// quantise and dequantise: their operators and rungs.
#ifndef HEDDLE_OPS_QUANTISE_H
#define HEDDLE_OPS_QUANTISE_H

#include "heddle/op.h"

extern const heddle_op heddle_op_quantise, heddle_op_dequantise;

heddle_status heddle_quantise_cpu_naive(const heddle_call *call);
heddle_status heddle_dequantise_cpu_naive(const heddle_call *call);

#endif
