// out-of-bounds: out-of-bounds access to global memory `fahrenheit`

__global__ void to_celsius(const float *fahrenheit, float *celsius, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    float degrees = fahrenheit[i];

    if (i < n)
        celsius[i] = (degrees - 32) * 5 / 9;
}
