// One warp reads floats at strides 1 to 32: sectors per request grow to one a lane.
#include "../corpus/corpus.h"

__global__ void strided(const float *a, float *output)
{
    int t = threadIdx.x;
    float sum = 0;
    sum += a[t];      // count: load global requests=1 lanes=32 units=4 ideal=4
    sum += a[t * 2];  // count: load global requests=1 lanes=32 units=8 ideal=4
    sum += a[t * 3];  // count: load global requests=1 lanes=32 units=12
    sum += a[t * 4];  // count: load global requests=1 lanes=32 units=16
    sum += a[t * 5];  // count: load global requests=1 lanes=32 units=20
    sum += a[t * 7];  // count: load global requests=1 lanes=32 units=28
    sum += a[t * 8];  // count: load global requests=1 lanes=32 units=32
    sum += a[t * 16]; // count: load global requests=1 lanes=32 units=32
    sum += a[t * 32]; // count: load global requests=1 lanes=32 units=32
    output[t] = sum;  // count: store global requests=1 lanes=32 units=4
}

int main()
{
    float *a = device_ramp(1024, 0.0f, 1.0f), *output = device_zeros<float>(32);
    strided<<<1, 32>>>(a, output);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(a));
    CHECK(cudaFree(output));
    return 0;
}
