// Mean and variance of each channel over a batch: one block of 128 threads per channel. x: (N, C, pixels)
//
// Element i of the channel is pixel i % pixels of image i / pixels, and in memory, C whole channels lie between the
// same channel of two images. c * count + i would be right only if the channel were one piece, the layout (C, N,
// pixels).

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

__device__ int place(int i, int c, int C, int pixels)
{
    return (i / pixels * C + c) * pixels + i % pixels;
}

__global__ void batchnorm_statistics(const float *x, float *means, float *variances, int N, int C, int pixels)
{
    int c = blockIdx.x, count = N * pixels;
    float sum = 0, squares = 0;

    for (int i = threadIdx.x; i < count; i += THREADS)
        sum += x[place(i, c, C, pixels)];
    float mean = block_sum(sum) / count;

    for (int i = threadIdx.x; i < count; i += THREADS) {
        float distance = x[place(i, c, C, pixels)] - mean;
        squares += distance * distance;
    }
    float variance = block_sum(squares) / count;

    if (threadIdx.x == 0) {
        means[c] = mean;
        variances[c] = variance;
    }
}
