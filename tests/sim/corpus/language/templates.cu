// Kernel templates with type and value parameters, explicit and deduced.
#include "../corpus.h"

template <typename T, int WIDTH> __global__ void rotate(T *data)
{
    __shared__ T tile[WIDTH];
    tile[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = tile[(threadIdx.x + 1) % WIDTH];
}

template <typename T> __global__ void scale(T *data, T factor)
{
    data[threadIdx.x] *= factor;
}

template <typename T> static void run(T *data)
{
    rotate<T, 64><<<1, 64>>>(data);
    scale<<<1, 64>>>(data, (T)2);
    CHECK(cudaGetLastError());
}

int main()
{
    int *integers = device_ramp(64, 0, 1), a[64];
    double *doubles = device_ramp(64, 0.0, 0.5), b[64];
    run(integers);
    run(doubles);
    fetch(a, integers);
    fetch(b, doubles);
    for (int i = 0; i < 64; i++)
        REQUIRE(a[i] == 2 * ((i + 1) % 64) && b[i] == (i + 1) % 64);
    CHECK(cudaFree(integers));
    CHECK(cudaFree(doubles));
    return 0;
}
