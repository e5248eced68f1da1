// Converts floats to bfloat16: one thread per element.

__device__ unsigned short bfloat16_bits(float value)
{
    unsigned bits = __float_as_uint(value);

    return (unsigned short)(bits >> 16); // TODO: rounds towards zero
}

__global__ void to_bfloat16(const float *in, unsigned short *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        out[i] = bfloat16_bits(in[i]);
}
