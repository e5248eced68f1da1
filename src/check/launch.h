// How a file that has a kernel and no host code wants it launched: a comment with the launch as CUDA writes it,
//
//     // launch: <<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>
//
// grid, block and, if there is a third, bytes of dynamic shared memory. Numbers and the fields of the operator's shape,
// with + - * / % and brackets, in whole numbers as C computes them.
#pragma once

#include "heddle/op.h"

enum { HEDDLE_CHECK_LAUNCH_SIZE = 512 };

typedef struct heddle_check_launch {
    unsigned grid[3], block[3];
    unsigned shared; // bytes
} heddle_check_launch;

// What stands between <<< and >>> in the file's comment; "" when it has none.
heddle_status heddle_check_launch_find(const char *path, char text[HEDDLE_CHECK_LAUNCH_SIZE]);
// The launch for a shape. HEDDLE_INVALID says what cannot be read, or what no GPU can launch. A grid of 0 blocks, for a
// shape without elements, is fine: there is nothing to launch.
heddle_status heddle_check_launch_read(const char *text, const heddle_op *op, const void *shape,
                                       heddle_check_launch *launch);
