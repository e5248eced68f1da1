// What the wrong elements of an array have in common: their place in it, who wrote them, their values.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// The thread that wrote an element last: blockIdx, then threadIdx.
typedef struct heddle_check_writer {
    bool known;
    bool nobody; // no kernel did
    int at[6];
} heddle_check_writer;

typedef struct heddle_check_values {
    const int *dims;
    int rank;
    size_t count;
    const bool *wrong;                  // by element
    const double *expected, *got;       // NULL: not known
    const heddle_check_writer *writers; // NULL: not known
} heddle_check_values;

// "All of them are in columns 64 to 99; all 3600 elements there are wrong. Each is 0." Returns `text`; "": nothing.
const char *heddle_check_pattern(const heddle_check_values *values, char *text, size_t size);
