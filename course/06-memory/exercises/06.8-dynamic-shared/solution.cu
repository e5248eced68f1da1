// Reverses a row of n elements, 1 to 1,024, in place: one block, one thread per element.
//
// The launch gives the size of `row` in bytes. A size that is too large would also work, but shared memory is scarce:
// the less a block takes, the more blocks fit on a multiprocessor at the same time.

__global__ void reverse_row(float *data, int n)
{
    extern __shared__ float row[];

    row[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = row[n - 1 - threadIdx.x];
}

void reverse(float *data, int n)
{
    reverse_row<<<1, n, n * sizeof(float)>>>(data, n);
}
