// Attention without stored scores: one thread per query. queries: (rows, SIZE), keys, values: (n, SIZE)
//
// sum and collected are relative to the largest score so far. If that grows from old to new, every weight in them must
// shrink from exp(s - old) to exp(s - new), by the factor exp(old - new). Both are multiplied by it, and their quotient
// stays the weighted mean.

#define SIZE 8

__global__ void attention(const float *queries, const float *keys, const float *values, float *out, int rows, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float collected[SIZE] = {0}; // the weighted sum of the values so far
    float largest = -INFINITY, sum = 0;

    if (row >= rows)
        return;
    for (int k = 0; k < n; k++) {
        float score = 0;
        for (int d = 0; d < SIZE; d++)
            score += queries[row * SIZE + d] * keys[k * SIZE + d];

        float new_largest = fmaxf(largest, score);
        float shrink = expf(largest - new_largest), weight = expf(score - new_largest);
        largest = new_largest;
        sum = sum * shrink + weight;
        for (int d = 0; d < SIZE; d++)
            collected[d] = collected[d] * shrink + weight * values[k * SIZE + d];
    }
    for (int d = 0; d < SIZE; d++)
        out[row * SIZE + d] = collected[d] / sum;
}
