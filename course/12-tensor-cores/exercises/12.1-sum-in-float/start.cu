// The product of a matrix of halves with a vector of halves: one thread per row. x: (rows, columns)

#include <cuda_fp16.h>

__global__ void rows_times_vector(const __half *x, const __half *weights, float *out, int rows, int columns)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    __half sum = __float2half(0.0f); // TODO: look at what happens when the sum gets large

    if (row >= rows)
        return;
    for (int j = 0; j < columns; j++)
        sum = __hadd(sum, __hmul(x[row * columns + j], weights[j]));
    out[row] = __half2float(sum);
}
