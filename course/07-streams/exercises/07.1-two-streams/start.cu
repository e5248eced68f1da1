// out = 2 * in + 1, in two steps and in two streams. `between` holds what the first step leaves for the second.

__global__ void double_all(const float *in, float *between, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        between[i] = 2 * in[i];
}

__global__ void add_one(const float *between, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        out[i] = between[i] + 1;
}

void double_and_add(const float *in, float *between, float *out, int n, cudaStream_t first, cudaStream_t second)
{
    int blocks = (n + 127) / 128;

    double_all<<<blocks, 128, 0, first>>>(in, between, n);
    // TODO: `second` has to wait for `first`, and the host for neither
    add_one<<<blocks, 128, 0, second>>>(between, out, n);
}
