// out-of-bounds: with a third number between <<< and >>>

__global__ void reverse_row(float *data, int n)
{
    extern __shared__ float row[];

    row[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = row[n - 1 - threadIdx.x];
}

void reverse(float *data, int n)
{
    reverse_row<<<1, n>>>(data, n);
}
