// Quantises each row to int8 with a scale of its own: one thread per row. x, q: (rows, columns)
//
// The largest value becomes 127 or -127, so nothing overflows and no clamp is needed. rintf rounds to the nearest
// integer; the cast alone would lose up to a whole step, always towards zero. For a row of zeros any scale is right
// except 0: 0 / 0 is NaN.

__global__ void quantise(const float *x, signed char *q, float *scales, int rows, int columns)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float largest = 0;

    if (row >= rows)
        return;
    x += row * columns;
    q += row * columns;

    for (int j = 0; j < columns; j++)
        largest = fmaxf(largest, fabsf(x[j]));
    float scale = largest > 0 ? largest / 127 : 1;

    for (int j = 0; j < columns; j++)
        q[j] = (signed char)rintf(x[j] / scale);
    scales[row] = scale;
}
