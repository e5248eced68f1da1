// An array goes through the GPU in chunks over two streams: while one chunk is copied, another one is computed.

#include <cstdio>

enum { N = 100000, CHUNK = 16384, STREAMS = 2 };

__global__ void double_all(float *data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] *= 2;
}

int main(void)
{
    float *host, *device[STREAMS];
    cudaStream_t stream[STREAMS];
    cudaMallocHost(&host, N * sizeof(float)); // pinned: copies from pageable memory would make the host wait
    for (int s = 0; s < STREAMS; s++) {
        cudaMalloc(&device[s], CHUNK * sizeof(float));
        cudaStreamCreateWithFlags(&stream[s], cudaStreamNonBlocking);
    }
    for (int i = 0; i < N; i++)
        host[i] = i;

    for (int first = 0, s = 0; first < N; first += CHUNK, s = (s + 1) % STREAMS) {
        int n = N - first < CHUNK ? N - first : CHUNK;
        cudaMemcpyAsync(device[s], host + first, n * sizeof(float), cudaMemcpyHostToDevice, stream[s]);
        double_all<<<(n + 255) / 256, 256, 0, stream[s]>>>(device[s], n);
        cudaMemcpyAsync(host + first, device[s], n * sizeof(float), cudaMemcpyDeviceToHost, stream[s]);
    }
    cudaDeviceSynchronize();

    int wrong = 0;
    for (int i = 0; i < N; i++)
        wrong += host[i] != 2.f * i;
    printf("%d of %d elements are wrong\n", wrong, N);
    for (int s = 0; s < STREAMS; s++) {
        cudaStreamDestroy(stream[s]);
        cudaFree(device[s]);
    }
    cudaFreeHost(host);
    return wrong || cudaGetLastError() != cudaSuccess;
}
