// source: an `extern __shared__` array has no size of its own

__global__ void reverse_row(float *data, int n)
{
    extern __shared__ float row[1024];

    row[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = row[n - 1 - threadIdx.x];
}

void reverse(float *data, int n)
{
    reverse_row<<<1, n, n * sizeof(float)>>>(data, n);
}
