// rows_loss: its operator.
#pragma once

#include "heddle/ops.h"

extern const heddle_op heddle_op_rows_loss;

enum { HEDDLE_ROWS_LOSS_BLOCKS = 64 }; // that store their own sum, at most
