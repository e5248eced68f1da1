// out-of-bounds: out-of-bounds access to global memory `fahrenheit`

__global__ void to_celsius(const float *fahrenheit, float *celsius, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i <= n)
        celsius[i] = (fahrenheit[i] - 32) * 5 / 9;
}
