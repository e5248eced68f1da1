// A start that is off by one element costs a fifth sector; all lanes at one address cost one.
#include "../corpus/corpus.h"

__global__ void starts(const float *a, float *output)
{
    __shared__ float box[64];
    int t = threadIdx.x;
    float sum = 0;
    box[t] = (float)t;      // count: store shared requests=1 units=1
    box[63 - t] = (float)t; // count: store shared requests=1 units=1
    __syncwarp();
    sum += a[t + 1];       // count: load global requests=1 units=5
    sum += a[t + 8];       // count: load global requests=1 units=4
    sum += a[31 - t];      // count: load global requests=1 units=4
    sum += a[t ^ 5];       // count: load global requests=1 units=4
    sum += a[7];           // count: load global requests=1 lanes=32 units=1
    sum += box[9];         // count: load shared requests=1 lanes=32 units=1
    sum += box[t * 2];     // count: load shared requests=1 units=2
    sum += box[t / 2 * 2]; // count: load shared requests=1 units=1
    output[t] = sum;       // count: store global requests=1 units=4
}

int main()
{
    float *a = device_ramp(128, 0.0f, 1.0f), *output = device_zeros<float>(32);
    starts<<<1, 32>>>(a, output);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(a));
    CHECK(cudaFree(output));
    return 0;
}
