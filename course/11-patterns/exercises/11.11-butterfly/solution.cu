// One stage of a radix-2 FFT, in place: one thread per butterfly, n / 2 of them.
//
// (c + is)(x + iy) = (cx - sy) + i(cy + sx). Both outputs need both inputs, so both are read before either is
// overwritten. No other thread touches this pair in this stage, so no synchronisation is needed within it.

__global__ void butterflies(float2 *data, int half, int n)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int k = thread % half;                    // place within the group
    int first = thread / half * 2 * half + k; // a is data[first], b is data[first + half]
    float sine, cosine;

    if (thread >= n / 2)
        return;
    sincospif(-(float)k / half, &sine, &cosine); // sine and cosine of -pi * k / half

    float2 a = data[first], b = data[first + half];
    float2 turned = make_float2(cosine * b.x - sine * b.y, cosine * b.y + sine * b.x);
    data[first] = make_float2(a.x + turned.x, a.y + turned.y);
    data[first + half] = make_float2(a.x - turned.x, a.y - turned.y);
}
