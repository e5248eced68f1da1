// rows_classify: its operator.
#pragma once

#include "heddle/ops.h"

extern const heddle_op heddle_op_rows_classify;

enum { HEDDLE_ROWS_CLASSIFY_BLOCKS = 512 }; // that store their own sum, at most
