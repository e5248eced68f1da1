// rows_head: its operator.
#pragma once

#include "heddle/ops.h"

extern const heddle_op heddle_op_rows_head;

enum {
    HEDDLE_ROWS_HEAD_CLASSES = 32, // at most
    HEDDLE_ROWS_HEAD_SAMPLES = 16, // of a block, which stores its own sum
};
