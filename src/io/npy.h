// NumPy's .npy files: an array of numbers with its type and sizes, read whole. And numbers of these types as bytes.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "heddle/status.h"

enum { HEDDLE_NPY_MOST_RANK = 8 };

typedef enum heddle_npy_type {
    HEDDLE_NPY_F32,
    HEDDLE_NPY_F64,
    HEDDLE_NPY_F16,
    HEDDLE_NPY_BF16, // NumPy has none: two bytes without a meaning
    HEDDLE_NPY_I8,
    HEDDLE_NPY_U8,
    HEDDLE_NPY_I16,
    HEDDLE_NPY_U16,
    HEDDLE_NPY_I32,
    HEDDLE_NPY_U32,
    HEDDLE_NPY_I64,
    HEDDLE_NPY_U64,
    HEDDLE_NPY_BOOL,
    HEDDLE_NPY_TYPES,
} heddle_npy_type;

typedef struct heddle_npy {
    heddle_npy_type type;
    int rank;
    int64_t dims[HEDDLE_NPY_MOST_RANK];
    int64_t count;    // of elements
    const void *data; // in `content`
    char *content;
} heddle_npy;

// HEDDLE_CORRUPT, HEDDLE_UNSUPPORTED (big-endian, Fortran order, records): the message names the file.
heddle_status heddle_npy_read(const char *path, heddle_npy *array);
// The same of bytes in memory, which it takes over; `name` is for messages.
heddle_status heddle_npy_parse(const char *name, char *content, size_t size, heddle_npy *array);
void heddle_npy_free(heddle_npy *array);

size_t heddle_npy_size(heddle_npy_type type);
const char *heddle_npy_name(heddle_npy_type type); // "float32"
bool heddle_npy_is_float(heddle_npy_type type);
double heddle_npy_decode(heddle_npy_type type, const void *data, int64_t index);
// How far apart the numbers at one place of two arrays are. Whole numbers are subtracted as such: 0 only if they are
// the same, beyond 2^53 too, where different ones become the same double. With a float on either side, as doubles.
double heddle_npy_distance(const heddle_npy *array, const heddle_npy *other, int64_t index);
// A whole number with all of its digits, a float with that many. Returns `text`.
const char *heddle_npy_text(const heddle_npy *array, int64_t index, int digits, char *text, size_t size);
void heddle_npy_encode(heddle_npy_type type, void *data, int64_t index, double value);
// Whether a number, rounded towards zero for whole types, is one that the type can hold.
bool heddle_npy_holds(heddle_npy_type type, double value);
