// Quantises each row to int8 with a scale of its own: one thread per row. x, q: (rows, columns)

__global__ void quantise(const float *x, signed char *q, float *scales, int rows, int columns)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float scale = 1; // TODO: the largest absolute value of the row / 127

    if (row >= rows)
        return;
    x += row * columns;
    q += row * columns;

    for (int j = 0; j < columns; j++)
        q[j] = (signed char)(x[j] / scale); // TODO: a cast does not round to the nearest
    scales[row] = scale;
}
