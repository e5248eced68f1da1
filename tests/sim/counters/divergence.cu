// Lanes that leave a loop one by one, and branches that halve a warp: requests as a warp in lockstep makes them.
#include "../corpus/corpus.h"

__global__ void triangular(const float *a, float *output)
{
    int t = threadIdx.x;
    float sum = 0;
    for (int i = 0; i <= t; i++)
        sum += a[i * 32 + t]; // count: load global requests=32 lanes=528 units=80
    output[t] = sum;          // count: store global requests=1 lanes=32 units=4
}

__global__ void halves(const float *a, const float *b, float *output)
{
    int t = threadIdx.x;
    float value = 1;
    if (t % 2)
        value = a[t] * 3; // count: load global requests=1 lanes=16 units=4
    else
        value = b[t] + 7; // count: load global requests=1 lanes=16 units=4
    if (t < 16)
        value += a[t + 32] * value; // count: load global requests=1 lanes=16 units=2
    output[t] = value;              // count: store global requests=1 lanes=32 units=4
}

__global__ void tail(const float *a, float *output, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float value = a[i]; // count: load global requests=4 lanes=100 units=13
        output[i] = value;  // count: store global requests=4 lanes=100 units=13
    }
}

int main()
{
    float *a = device_ramp(1024, 0.0f, 1.0f), *output = device_zeros<float>(128);
    triangular<<<1, 32>>>(a, output);
    halves<<<1, 32>>>(a, a + 128, output);
    tail<<<2, 64>>>(a, output, 100);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(a));
    CHECK(cudaFree(output));
    return 0;
}
