// Mean and variance of each row: one thread per row, one pass, by Welford's method. x: (rows, columns)
//
// After j + 1 values, the mean moves by 1 / (j + 1) of the new value's distance from it. The sum of squared distances
// grows by the product of the distances from the old and from the new mean. No large numbers are ever subtracted from
// each other, so an offset costs nothing.

__global__ void statistics(const float *x, float *means, float *variances, int rows, int columns)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float mean = 0, squares = 0; // squares: the sum of squared distances from the mean

    if (row >= rows)
        return;
    x += row * columns;

    for (int j = 0; j < columns; j++) {
        float value = x[j], distance = value - mean;
        mean += distance / (j + 1);
        squares += distance * (value - mean);
    }

    means[row] = mean;
    variances[row] = squares / columns;
}
