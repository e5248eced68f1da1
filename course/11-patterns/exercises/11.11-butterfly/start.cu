// One stage of a radix-2 FFT, in place: one thread per butterfly, n / 2 of them.

__global__ void butterflies(float2 *data, int half, int n)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int k = thread % half;                    // place within the group
    int first = thread / half * 2 * half + k; // a is data[first], b is data[first + half]
    float sine, cosine;

    if (thread >= n / 2)
        return;
    sincospif(-(float)k / half, &sine, &cosine); // sine and cosine of -pi * k / half

    // TODO: w * b, then the sum and the difference
}
