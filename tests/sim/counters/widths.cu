// Accesses of 1, 2, 8 and 16 bytes a lane, in global and in shared memory.
#include "../corpus/corpus.h"

__global__ void widths(const unsigned char *bytes, const unsigned short *halves, const double *doubles,
                       const float4 *fours, float *output)
{
    int t = threadIdx.x;
    float sum = 0;
    sum += bytes[t];          // count: load global requests=1 lanes=32 units=1
    sum += halves[t];         // count: load global requests=1 lanes=32 units=2
    sum += (float)doubles[t]; // count: load global requests=1 lanes=32 units=8
    float4 four = fours[t];   // count: load global requests=1 lanes=32 units=16
    output[t] = sum + four.x + four.y + four.z + four.w;
}

__global__ void shared_widths(const double *input, double *output)
{
    __shared__ double box[64];
    __shared__ __align__(16) float4 fours[32];
    int t = threadIdx.x;
    double value = input[t];
    box[t] = value;                                // count: store shared requests=1 units=2 ideal=2
    fours[t] = make_float4((float)value, 1, 2, 3); // count: store shared requests=1 units=4 ideal=4
    __syncwarp();
    float4 four = fours[31 - t]; // count: load shared requests=1 units=4
    output[t] = box[31 - t] +    // count: load shared requests=1 units=2
                four.x + four.w;
}

int main()
{
    double *data = device_ramp(128, 0.0, 1.0), *result = device_zeros<double>(32);
    float *output = device_zeros<float>(32);
    widths<<<1, 32>>>((unsigned char *)data, (unsigned short *)data, data, (float4 *)data, output);
    shared_widths<<<1, 32>>>(data, result);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(data));
    CHECK(cudaFree(result));
    CHECK(cudaFree(output));
    return 0;
}
