// A fault in a function template called from two kernels, found at its line.
#include "../corpus.h"

template <typename T> __device__ void push(T *where, T value)
{
    *where = value; // expect: race
}

template <typename T> __global__ void kernel(T *where)
{
    push(where, (T)threadIdx.x);
}

int main()
{
    int *a = device_zeros<int>(1);
    double *b = device_zeros<double>(1);
    kernel<<<1, 32>>>(a);
    kernel<<<1, 32>>>(b);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    return 0;
}
