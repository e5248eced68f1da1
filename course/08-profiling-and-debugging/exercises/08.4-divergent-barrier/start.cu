// Adds up the rain of `days` days for each station: one block of THREADS threads per station.

#define THREADS 128

__global__ void total_rain(const float *rain, float *total, int days)
{
    __shared__ float sums[THREADS];
    int thread = threadIdx.x;
    float sum = 0;

    for (int day = thread; day < days; day += THREADS)
        sum += rain[blockIdx.x * days + day];
    sums[thread] = sum;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (thread < half) {
            sums[thread] += sums[thread + half];
            __syncthreads();
        } else {
            __syncthreads();
        }
    }
    if (thread == 0)
        total[blockIdx.x] = sums[0];
}
