// Sizes and names of element types: one table.

#include "heddle/dtype.h"

static const struct {
    const char *name;
    size_t size;
    bool is_float;
} dtypes[] = {
    [HEDDLE_F32] = {"f32", 4, true},
    [HEDDLE_F64] = {"f64", 8, true},
    [HEDDLE_F16] = {"f16", 2, true},
    [HEDDLE_BF16] = {"bf16", 2, true},
    [HEDDLE_I32] = {"i32", 4},
    [HEDDLE_I64] = {"i64", 8},
    [HEDDLE_U8] = {"u8", 1},
    [HEDDLE_I8] = {"i8", 1},
    [HEDDLE_F16_PAIR] = {"f16_pair", 4, true},
    [HEDDLE_F8_E4M3] = {"f8_e4m3", 1, true},
};

static const size_t dtype_count = sizeof dtypes / sizeof *dtypes;

size_t heddle_dtype_size(heddle_dtype dtype)
{
    return (size_t)dtype < dtype_count ? dtypes[dtype].size : 0;
}

bool heddle_dtype_is_float(heddle_dtype dtype)
{
    return (size_t)dtype < dtype_count && dtypes[dtype].is_float;
}

const char *heddle_dtype_name(heddle_dtype dtype)
{
    return (size_t)dtype < dtype_count ? dtypes[dtype].name : "unknown dtype";
}
