// limit: one thread does the work of all

__global__ void sum_all(const float *in, float *total, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    for (int k = 0; i == 0 && k < n; k++)
        *total += in[k];
}
