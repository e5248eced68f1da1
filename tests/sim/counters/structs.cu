// Array of structs against struct of arrays.
#include "../corpus/corpus.h"

struct point3 {
    float x, y, z;
};

struct particle {
    float x, y, z, mass;
    double energy;
    int kind, flags;
};

__global__ void array_of_structs(const point3 *points, const particle *particles, float *output)
{
    int t = threadIdx.x;
    float sum = 0;
    sum += points[t].x;       // count: load global requests=1 units=12
    sum += points[t].y;       // count: load global requests=1 units=12
    sum += points[t].z;       // count: load global requests=1 units=12
    sum += particles[t].mass; // count: load global requests=1 units=32
    output[t] = sum;
}

__global__ void struct_of_arrays(const float *x, const float *y, const float *z, float *output)
{
    int t = threadIdx.x;
    float sum = 0;
    sum += x[t];     // count: load global requests=1 units=4
    sum += y[t];     // count: load global requests=1 units=4
    sum += z[t];     // count: load global requests=1 units=4
    output[t] = sum; // count: store global requests=1 units=4
}

int main()
{
    float *data = device_ramp(1024, 0.0f, 1.0f), *output = device_zeros<float>(32);
    array_of_structs<<<1, 32>>>((const point3 *)data, (const particle *)data, output);
    struct_of_arrays<<<1, 32>>>(data, data + 64, data + 128, output);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(data));
    CHECK(cudaFree(output));
    return 0;
}
