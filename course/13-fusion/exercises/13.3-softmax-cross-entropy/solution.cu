// Cross-entropy of each row of scores: one thread per row. x, probabilities: (rows, classes)
//
// log Σ exp(x) = largest + log Σ exp(x - largest). The sum is between 1 and the number of classes, so its logarithm
// is harmless, and the loss is a difference of scores: no probability is formed that could be rounded to 0.

__global__ void cross_entropy(const float *x, const int *labels, float *probabilities, float *losses, int rows,
                              int classes)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float largest = -INFINITY, sum = 0;

    if (row >= rows)
        return;
    x += row * classes;

    for (int j = 0; j < classes; j++)
        largest = fmaxf(largest, x[j]);
    for (int j = 0; j < classes; j++)
        sum += expf(x[j] - largest);

    losses[row] = logf(sum) + largest - x[labels[row]];
}
