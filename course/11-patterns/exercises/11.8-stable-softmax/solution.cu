// Softmax of each row: one thread per row. x, y: (rows, columns)
//
// Dividing numerator and denominator by exp(largest) does not change the quotient, and exp(x) / exp(largest) is
// exp(x - largest). No exponent is above 0 now, so nothing overflows; the largest score contributes exp(0) = 1, so the
// sum is never 0.

__global__ void softmax(const float *x, float *y, int rows, int columns)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float largest = -INFINITY, sum = 0;

    if (row >= rows)
        return;
    x += row * columns;
    y += row * columns;

    for (int j = 0; j < columns; j++)
        largest = fmaxf(largest, x[j]);
    for (int j = 0; j < columns; j++)
        sum += expf(x[j] - largest);
    for (int j = 0; j < columns; j++)
        y[j] = expf(x[j] - largest) / sum;
}
