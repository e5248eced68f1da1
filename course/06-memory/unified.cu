// One pointer for host and device: no copies in the source.

#include <cstdio>

__global__ void increment(int *data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i]++;
}

int main(void)
{
    enum { N = 1000 };
    int *data;
    cudaMallocManaged(&data, N * sizeof(int));
    for (int i = 0; i < N; i++)
        data[i] = i; // on the host
    increment<<<(N + 255) / 256, 256>>>(data, N);
    cudaDeviceSynchronize(); // the host must not touch the data before the kernel is done
    printf("%d %d ... %d\n", data[0], data[1], data[N - 1]);
    cudaFree(data);
    return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
