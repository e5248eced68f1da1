// Element types.
#ifndef HEDDLE_DTYPE_H
#define HEDDLE_DTYPE_H

#include <stdbool.h>
#include <stddef.h>

#include "heddle/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum heddle_dtype {
    HEDDLE_F32,
    HEDDLE_F64,
    HEDDLE_F16,
    HEDDLE_BF16,
    HEDDLE_I32,
    HEDDLE_I64,
    HEDDLE_U8,
    HEDDLE_I8,
    HEDDLE_F16_PAIR, // hi + lo / 2048, both f16; a row (the last dimension) is all of its hi, then all of its lo
    HEDDLE_F8_E4M3,  // 4 bits of exponent, 3 of mantissa, no infinity: at most 448
} heddle_dtype;

HEDDLE_API size_t heddle_dtype_size(heddle_dtype dtype);
HEDDLE_API bool heddle_dtype_is_float(heddle_dtype dtype);
// "f32", "u8", ...
HEDDLE_API const char *heddle_dtype_name(heddle_dtype dtype);

#ifdef __cplusplus
}
#endif
#endif
