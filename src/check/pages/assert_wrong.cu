#include <cassert>

__global__ void root(const int *in, float *out)
{
    assert(in[threadIdx.x] >= 0); // in[63] is -1
    out[threadIdx.x] = sqrtf(in[threadIdx.x]);
}

int main()
{
    int *in;
    float *out;
    cudaMallocManaged(&in, 64 * sizeof(int));
    cudaMallocManaged(&out, 64 * sizeof(float));
    for (int i = 0; i < 64; i++)
        in[i] = 62 - i;
    root<<<1, 64>>>(in, out);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
