// Softmax of each row: one thread per row. x, y: (rows, columns)

__global__ void softmax(const float *x, float *y, int rows, int columns)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;

    if (row >= rows)
        return;
    x += row * columns;
    y += row * columns;

    // TODO: correct for small scores only
    for (int j = 0; j < columns; j++)
        sum += expf(x[j]);
    for (int j = 0; j < columns; j++)
        y[j] = expf(x[j]) / sum;
}
