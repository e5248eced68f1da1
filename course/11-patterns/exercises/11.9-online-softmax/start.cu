// Softmax of each row: one thread per row, three passes. x, y: (rows, columns)
//
// The result is already correct. Find the largest value and the sum in the same pass.

__global__ void softmax(const float *x, float *y, int rows, int columns)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float largest = -INFINITY, sum = 0;

    if (row >= rows)
        return;
    x += row * columns;
    y += row * columns;

    // TODO: one loop instead of these two, with one load per element
    for (int j = 0; j < columns; j++)
        largest = fmaxf(largest, x[j]);
    for (int j = 0; j < columns; j++)
        sum += expf(x[j] - largest);

    for (int j = 0; j < columns; j++)
        y[j] = expf(x[j] - largest) / sum;
}
