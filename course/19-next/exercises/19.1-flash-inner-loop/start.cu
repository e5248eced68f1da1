// Attention without stored scores: one thread per query. queries: (rows, SIZE), keys, values: (n, SIZE)

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

        // TODO: what happens to what was collected before, if this score is the largest so far?
        largest = fmaxf(largest, score);
        float weight = expf(score - largest);
        sum += weight;
        for (int d = 0; d < SIZE; d++)
            collected[d] += weight * values[k * SIZE + d];
    }
    for (int d = 0; d < SIZE; d++)
        out[row * SIZE + d] = collected[d] / sum;
}
