// compile: A float4 is one value, not an array

__global__ void triple(const float *in, float *out, int n)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    float4 in4 = (float4)in;
    float4 *out4 = (float4 *)out;

    for (int i = thread; i < n / 4; i += threads) {
        float4 four = in4[i];
        out4[i] = make_float4(3 * four.x, 3 * four.y, 3 * four.z, 3 * four.w);
    }
    int last = n / 4 * 4 + thread; // threads 0 to 2 may have one of the last elements
    if (last < n)
        out[last] = 3 * in[last];
}
