// The line that describes what a kernel is launched on:
//
//     x: float[rows, 1024] = normal(seed=1), y: out float[rows, 1024], rows = 64, bias = null, w = weights.npy
//
// An entry is NAME [: [in|out|inout] TYPE [[SIZE, ...]]] [= VALUE]. Sizes and numbers are expressions over the other
// numbers of the line. The reader of C++ cuts it into words (sim/source/lexer.h).
#pragma once

#include <stdint.h>

#include "base/arena.h"
#include "heddle/status.h"
#include "io/npy.h"

enum { HEDDLE_CHECK_MOST_RANK = HEDDLE_NPY_MOST_RANK, HEDDLE_CHECK_MOST_ARGUMENTS = 48 };

typedef enum heddle_check_role {
    HEDDLE_CHECK_NUMBER, // by value
    HEDDLE_CHECK_IN,
    HEDDLE_CHECK_OUT, // uninitialised memory
    HEDDLE_CHECK_INOUT,
    HEDDLE_CHECK_NULL, // a pointer to nothing
} heddle_check_role;

typedef enum heddle_check_fill {
    HEDDLE_CHECK_FILL_NONE,
    HEDDLE_CHECK_FILL_CONST,   // low
    HEDDLE_CHECK_FILL_ARANGE,  // low, low + high, low + 2 high, ...
    HEDDLE_CHECK_FILL_UNIFORM, // in [low, high)
    HEDDLE_CHECK_FILL_NORMAL,  // mean low, deviation high
    HEDDLE_CHECK_FILL_RANDINT, // whole numbers in [low, high)
    HEDDLE_CHECK_FILL_FILE,
} heddle_check_fill;

typedef struct heddle_check_argument {
    const char *name;
    int column; // of its name in the line, from 1
    heddle_check_role role;
    bool has_type;
    heddle_npy_type type;
    int rank;
    int64_t dims[HEDDLE_CHECK_MOST_RANK];
    int64_t count; // elements
    heddle_check_fill fill;
    double low, high;
    uint64_t seed;
    const char *path;  // of FILL_FILE
    bool is_whole;     // a number without a point
    long long whole;   // that number
    double number;     // the number, whole or not
    const char *where; // of an output: the file with what it should be; NULL: none
} heddle_check_argument;

typedef struct heddle_check_arguments {
    heddle_arena *arena;
    heddle_check_argument at[HEDDLE_CHECK_MOST_ARGUMENTS];
    int count;
} heddle_check_arguments;

// HEDDLE_INVALID: one line that says what is wrong, and at which column. `seed`: for values that name none.
heddle_status heddle_check_arguments_read(const char *line, uint64_t seed, heddle_arena *arena,
                                          heddle_check_arguments *arguments);
// "X", "X, Y" or "X, Y, Z", or dim3(X, Y, Z), over the numbers of the line. `option`: for messages: "--grid".
heddle_status heddle_check_arguments_extent(const heddle_check_arguments *arguments, const char *option,
                                            const char *text, int64_t size[3]);
const heddle_check_argument *heddle_check_arguments_find(const heddle_check_arguments *arguments, const char *name);
