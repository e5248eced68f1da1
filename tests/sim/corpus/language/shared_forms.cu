// Every form of __shared__: static, two-dimensional, struct, file scope, extern of several types, in a device function.
#include "../corpus.h"

struct item {
    int key;
    float value;
};

__shared__ int file_scope[32];

__device__ int through_function(int t)
{
    __shared__ int local_box[32];
    local_box[t] = 3 * t;
    __syncthreads();
    return local_box[31 - t];
}

__global__ void integers(int *output)
{
    extern __shared__ int dynamic_integers[];
    __shared__ int square[4][8];
    __shared__ item items[32];
    int t = threadIdx.x;
    square[t / 8][t % 8] = t;
    items[t].key = t;
    items[t].value = 0.5f;
    file_scope[t] = 2 * t;
    dynamic_integers[t] = 10 * t;
    __syncthreads();
    int r = 31 - t;
    output[t] = square[r / 8][r % 8] + items[r].key + (int)(items[r].value * 2) + file_scope[r] + dynamic_integers[r];
    output[t] += through_function(t);
}

__global__ void doubles(double *output)
{
    extern __shared__ double dynamic_doubles[];
    dynamic_doubles[threadIdx.x] = threadIdx.x;
    __syncthreads();
    output[threadIdx.x] = dynamic_doubles[31 - threadIdx.x];
}

int main()
{
    int *a = device_zeros<int>(32), x[32];
    double *b = device_zeros<double>(32), y[32];
    integers<<<1, 32, 32 * sizeof(int)>>>(a);
    doubles<<<1, 32, 32 * sizeof(double)>>>(b);
    CHECK(cudaGetLastError());
    fetch(x, a);
    fetch(y, b);
    for (int t = 0; t < 32; t++)
        REQUIRE(x[t] == (31 - t) * (1 + 1 + 2 + 10 + 3) + 1 && y[t] == 31 - t);
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    return 0;
}
