// One warp reads floats at strides 1 to 32: sectors per request grow to one a lane, and wavefronts with the factors
// that a stride shares with the 32 banks. Backwards it is the same.
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

__global__ void backwards(const float *a, const double *b, const short *c, float *output)
{
    int t = 31 - threadIdx.x;
    float sum = 0;
    sum += a[t];         // count: load global requests=1 lanes=32 units=4 ideal=4
    sum += a[t * 3];     // count: load global requests=1 lanes=32 units=12 ideal=4
    sum += a[t * 9];     // count: load global requests=1 lanes=32 units=32 ideal=4
    sum += b[t * 2];     // count: load global requests=1 lanes=32 units=16 ideal=8
    sum += b[t * 2 + 3]; // count: load global requests=1 lanes=32 units=17 ideal=8
    sum += c[t * 2];     // count: load global requests=1 lanes=32 units=4 ideal=2
    sum += c[t * 2 + 1]; // count: load global requests=1 lanes=32 units=4 ideal=2
    output[t] = sum;
}

// Each half of the warp at its own words.
__global__ void in_shared_memory(const float *a, float *output)
{
    __shared__ float s[1024];
    int t = threadIdx.x, half = t / 16, rest = t % 16;
    for (int i = t; i < 1024; i += 32)
        s[i] = a[i];
    __syncwarp();
    float sum = 0;
    sum += s[t * 3];            // count: load shared requests=1 lanes=32 units=1 ideal=1
    sum += s[t * 6];            // count: load shared requests=1 lanes=32 units=2 ideal=1
    sum += s[t * 20];           // count: load shared requests=1 lanes=32 units=4 ideal=1
    sum += s[t * 32];           // count: load shared requests=1 lanes=32 units=32 ideal=1
    sum += s[(31 - t) * 12];    // count: load shared requests=1 lanes=32 units=4 ideal=1
    sum += s[rest];             // count: load shared requests=1 lanes=32 units=1 ideal=1
    sum += s[rest + half * 16]; // count: load shared requests=1 lanes=32 units=1 ideal=1
    sum += s[rest + half * 48]; // count: load shared requests=1 lanes=32 units=1 ideal=1
    sum += s[rest + half * 32]; // count: load shared requests=1 lanes=32 units=2 ideal=1
    sum += s[rest + half * 40]; // count: load shared requests=1 lanes=32 units=2 ideal=1
    sum += s[rest + half * 8];  // count: load shared requests=1 lanes=32 units=1 ideal=1
    sum += s[half * 5];         // count: load shared requests=1 lanes=32 units=1 ideal=1
    sum += s[half * 64];        // count: load shared requests=1 lanes=32 units=2 ideal=1
    output[t] = sum;
}

int main()
{
    float *a = device_ramp(1024, 0.0f, 1.0f), *output = device_zeros<float>(32);
    double *b = device_ramp(128, 0.0, 1.0);
    short *c = device_zeros<short>(128);
    strided<<<1, 32>>>(a, output);
    backwards<<<1, 32>>>(a, b, c, output);
    in_shared_memory<<<1, 32>>>(a, output);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    CHECK(cudaFree(c));
    CHECK(cudaFree(output));
    return 0;
}
