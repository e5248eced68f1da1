// The product of a matrix of halves with a vector of halves: one thread per row. x: (rows, columns)
//
// The product of two halves has at most 22 significant bits, and float holds 24: each product is exact in float. So
// both the multiplication and the sum are done there. A product in half would already be rounded to 11 bits.

#include <cuda_fp16.h>

__global__ void rows_times_vector(const __half *x, const __half *weights, float *out, int rows, int columns)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;

    if (row >= rows)
        return;
    for (int j = 0; j < columns; j++)
        sum += __half2float(x[row * columns + j]) * __half2float(weights[j]);
    out[row] = sum;
}
