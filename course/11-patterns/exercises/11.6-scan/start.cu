// Inclusive scan of one block, by Hillis and Steele: log2(n) rounds, one thread per element.
//
// There is a mistake in it. `heddle learn` shows which two accesses collide.

#define THREADS 256

__global__ void scan(const int *in, int *out, int n)
{
    __shared__ int values[THREADS];
    int i = threadIdx.x;

    values[i] = i < n ? in[i] : 0;
    __syncthreads();

    for (int distance = 1; distance < n; distance *= 2) {
        if (i >= distance)
            values[i] += values[i - distance];
        __syncthreads();
    }

    if (i < n)
        out[i] = values[i];
}
