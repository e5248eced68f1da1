// scan: its operator and its rungs.
#pragma once

#include "heddle/op.h"

extern const heddle_op heddle_op_scan;

// Of the shared memory of rung 4: a tile of 640 threads with 8 vectors of 16 bytes.
enum { HEDDLE_SCAN_TILE_BYTES = 640 * 8 * 16 };

heddle_status heddle_scan_cpu_naive(const heddle_call *call);
