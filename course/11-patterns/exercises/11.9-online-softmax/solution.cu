// Softmax of each row: one thread per row, two passes. x, y: (rows, columns)
//
// sum is always relative to the largest value so far. If that value grows from old to new, each term exp(x - old) must
// become exp(x - new): the whole sum is multiplied by exp(old - new). At the first element, old is -infinity and the
// factor is 0, which is right, because the sum is still empty.

__global__ void softmax(const float *x, float *y, int rows, int columns)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float largest = -INFINITY, sum = 0;

    if (row >= rows)
        return;
    x += row * columns;
    y += row * columns;

    for (int j = 0; j < columns; j++) {
        float value = x[j], new_largest = fmaxf(largest, value);
        sum = sum * expf(largest - new_largest) + expf(value - new_largest);
        largest = new_largest;
    }

    for (int j = 0; j < columns; j++)
        y[j] = expf(x[j] - largest) / sum;
}
