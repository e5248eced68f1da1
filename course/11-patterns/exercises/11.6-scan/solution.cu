// Inclusive scan of one block, by Hillis and Steele: log2(n) rounds, one thread per element.
//
// In a round, element i is read by thread i + distance and written by thread i. With one array, the reader gets the old
// or the new value, whichever comes first. With two arrays, a round reads one and writes the other, and one barrier per
// round is enough. (One array with a second barrier, between the reads and the writes, is correct, too.)

#define THREADS 256

__global__ void scan(const int *in, int *out, int n)
{
    __shared__ int values[2][THREADS];
    int i = threadIdx.x, now = 0;

    values[now][i] = i < n ? in[i] : 0;
    __syncthreads();

    for (int distance = 1; distance < n; distance *= 2) {
        int sum = values[now][i];
        if (i >= distance)
            sum += values[now][i - distance];
        values[1 - now][i] = sum;
        now = 1 - now;
        __syncthreads();
    }

    if (i < n)
        out[i] = values[now][i];
}
