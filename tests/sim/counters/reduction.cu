// Sum of 256 numbers in shared memory: interleaved addressing with its conflicts, sequential addressing without.
#include "../corpus/corpus.h"

__global__ void interleaved(const int *input, int *output)
{
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = input[t];
    __syncthreads();
    // Strides 1 to 128 at 2-, 4-, 8-, 8-, 8-, 4-, 2- and 1-way conflicts in 4, 2, 1, 1, 1, 1, 1 and 1 warps.
    for (int stride = 1; stride < 256; stride *= 2) {
        int index = 2 * stride * t;
        if (index < 256) {
            int high = s[index + stride]; // count: load shared requests=12 lanes=255 units=47 ideal=12
            int low = s[index];           // count: load shared requests=12 lanes=255 units=47
            s[index] = low + high;        // count: store shared requests=12 lanes=255 units=47
        }
        __syncthreads();
    }
    if (t == 0)
        *output = s[0]; // count: load shared requests=1 lanes=1 units=1; store global requests=1 lanes=1 units=1
}

__global__ void sequential(const int *input, int *output)
{
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = input[t]; // count: load global requests=8 lanes=256 units=32; store shared requests=8 lanes=256 units=8
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (t < half) {
            int high = s[t + half]; // count: load shared requests=12 lanes=255 units=12
            int low = s[t];         // count: load shared requests=12 lanes=255 units=12
            s[t] = low + high;      // count: store shared requests=12 lanes=255 units=12
        }
        __syncthreads();
    }
    if (t == 0)
        *output = s[0];
}

int main()
{
    int *input = device_ramp(256, 0, 1), *output = device_zeros<int>(1);
    interleaved<<<1, 256>>>(input, output);
    sequential<<<1, 256>>>(input, output);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(input));
    CHECK(cudaFree(output));
    return 0;
}
