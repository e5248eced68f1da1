// The gradient of the mean cross-entropy: one thread per row. x, grad: (rows, classes)
//
// loss = log sum exp(x) - x[label]. The first term changes with x[j] by the softmax of j, the second by -1 at the
// label. Subtracting the largest score keeps exp from overflowing. The mean over the batch divides by rows.

__global__ void cross_entropy_gradient(const float *x, const int *labels, float *grad, int rows, int classes)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;

    if (row >= rows)
        return;
    x += row * classes;
    grad += row * classes;

    float largest = -INFINITY, sum = 0;
    for (int j = 0; j < classes; j++)
        largest = fmaxf(largest, x[j]);
    for (int j = 0; j < classes; j++)
        sum += expf(x[j] - largest);
    for (int j = 0; j < classes; j++)
        grad[j] = (expf(x[j] - largest) / sum - (j == labels[row] ? 1 : 0)) / rows;
}
