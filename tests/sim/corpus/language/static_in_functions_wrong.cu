// A static variable of a kernel is shared by all threads; one of a host function is the host's.
#include "../corpus.h"

__global__ void count(int *out)
{
    static int seen;
    out[threadIdx.x] = seen++; // expect: race
}

template <int n> __global__ void count_in_template(int *out)
{
    static __device__ int seen[n];
    out[threadIdx.x] = seen[0]++; // expect: race
}

__global__ void read(const int *in, int *out)
{
    out[threadIdx.x] = in[threadIdx.x]; // expect: host-pointer
}

int main()
{
    static int on_host[32];
    int *out = device_zeros<int>(32);
    count<<<1, 32>>>(out);
    SHOW(cudaDeviceSynchronize());
    count_in_template<2><<<1, 32>>>(out);
    SHOW(cudaDeviceSynchronize());
    on_host[3] = 7;
    read<<<1, 32>>>(on_host, out);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
