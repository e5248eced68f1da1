// Bytes of a row as words, wherever the row begins and ends.
#pragma once

#include <cuda_runtime.h>
#include <stdint.h>

enum { HEDDLE_INT8_WORD = 4 }; // bytes of a word

// Four bytes from (row, column) of matrix (rows, k); 0 beyond its edges, which adds nothing to a product.
__device__ static inline int heddle_int8_word(const signed char *matrix, int rows, int k, int row, int column)
{
    if (row >= rows || column >= k)
        return 0;
    const signed char *from = matrix + (size_t)row * k + column;
    if (column + HEDDLE_INT8_WORD <= k && (uintptr_t)from % HEDDLE_INT8_WORD == 0)
        return *(const int *)from;
    unsigned word = 0;
    for (int byte = 0; byte < HEDDLE_INT8_WORD && column + byte < k; byte++)
        word |= (unsigned)(unsigned char)from[byte] << (8 * byte);
    return (int)word;
}
