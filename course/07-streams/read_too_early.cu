// A copy that has only been queued, and a host that reads its result at once.

#include <cstdio>

enum { N = 1000 };

__global__ void square(const int *in, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        out[i] = in[i] * in[i];
}

int main(void)
{
    int *host, *device_in, *device_out;
    cudaStream_t stream;
    cudaMallocHost(&host, N * sizeof(int)); // pinned
    cudaMalloc(&device_in, N * sizeof(int));
    cudaMalloc(&device_out, N * sizeof(int));
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    for (int i = 0; i < N; i++)
        host[i] = i;

    cudaMemcpyAsync(device_in, host, N * sizeof(int), cudaMemcpyHostToDevice, stream);
    square<<<(N + 255) / 256, 256, 0, stream>>>(device_in, device_out);
    cudaMemcpyAsync(host, device_out, N * sizeof(int), cudaMemcpyDeviceToHost, stream);
    printf("7 * 7 = %d\n", host[7]);

    cudaStreamSynchronize(stream);
    printf("7 * 7 = %d\n", host[7]);
    cudaStreamDestroy(stream);
    cudaFreeHost(host);
    cudaFree(device_in);
    cudaFree(device_out);
    return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
