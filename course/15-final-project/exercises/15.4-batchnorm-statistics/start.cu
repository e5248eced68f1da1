// Mean and variance of each channel over a batch: one block of 128 threads per channel. x: (N, C, pixels)

#define THREADS 128

// The sum of `value` over all threads of the block, given to all of them.
__device__ float block_sum(float value)
{
    __shared__ float values[THREADS];

    values[threadIdx.x] = value;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            values[threadIdx.x] += values[threadIdx.x + half];
        __syncthreads();
    }
    float sum = values[0];
    __syncthreads(); // before the next call writes
    return sum;
}

__global__ void batchnorm_statistics(const float *x, float *means, float *variances, int N, int C, int pixels)
{
    int c = blockIdx.x, count = N * pixels;
    float sum = 0, squares = 0;

    for (int i = threadIdx.x; i < count; i += THREADS)
        sum += x[c * count + i];
    float mean = block_sum(sum) / count;

    for (int i = threadIdx.x; i < count; i += THREADS) {
        float distance = x[c * count + i] - mean;
        squares += distance * distance;
    }
    float variance = block_sum(squares) / count;

    if (threadIdx.x == 0) {
        means[c] = mean;
        variances[c] = variance;
    }
}
