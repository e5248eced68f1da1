// Matrices whose rows start at multiples of 16 bytes, as TMA, cp.async and cuBLAS's fast kernels need them: how large a
// copy with such rows is. pack_cuda.h makes the copy.
#pragma once

#include <stddef.h>

enum { HEDDLE_PACK_ALIGNMENT = 16 };

// Bytes between the rows of a copy.
static inline size_t heddle_pack_pitch(size_t columns, size_t element_bytes)
{
    return (columns * element_bytes + HEDDLE_PACK_ALIGNMENT - 1) / HEDDLE_PACK_ALIGNMENT * HEDDLE_PACK_ALIGNMENT;
}

// Bytes of a copy of matrix (rows, columns): a multiple of the alignment.
static inline size_t heddle_pack_bytes(size_t rows, size_t columns, size_t element_bytes)
{
    return rows * heddle_pack_pitch(columns, element_bytes);
}
