// Converts floats to bfloat16: one thread per element.
//
// Adding 0x7fff carries into the upper half exactly if the lower half is above 0x8000, the middle. Adding one more if
// the last kept bit is 1 lets the middle itself carry, too, and then that bit becomes 0: ties to even. A carry out of
// the mantissa raises the exponent, which is the right result, and the largest exponent is infinity. NaN must not take
// this path: a carry could turn it into infinity or into 0.

__device__ unsigned short bfloat16_bits(float value)
{
    unsigned bits = __float_as_uint(value);

    if (isnan(value))
        return 0x7fff;
    bits += 0x7fff + (bits >> 16) % 2;
    return (unsigned short)(bits >> 16);
}

__global__ void to_bfloat16(const float *in, unsigned short *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        out[i] = bfloat16_bits(in[i]);
}
