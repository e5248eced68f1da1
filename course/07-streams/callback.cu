// A host function in a stream: it runs on a host thread when the work before it is done.

#include <cstdio>

enum { N = 1000 };

__global__ void fill(int *data, int value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        data[i] = value;
}

struct batch {
    int number;
    int *host;
};

// May not call CUDA. It only looks at its batch; a program would wake the thread that queues the next one.
static void arrived(void *argument)
{
    const struct batch *batch = (const struct batch *)argument;
    printf("batch %d arrived: %d ... %d\n", batch->number, batch->host[0], batch->host[N - 1]);
}

int main(void)
{
    enum { BATCHES = 3 };
    int *device;
    struct batch batches[BATCHES];
    cudaStream_t stream;
    cudaMalloc(&device, N * sizeof(int));
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    for (int b = 0; b < BATCHES; b++) {
        batches[b].number = b;
        cudaMallocHost(&batches[b].host, N * sizeof(int));
        fill<<<(N + 255) / 256, 256, 0, stream>>>(device, 10 * b);
        cudaMemcpyAsync(batches[b].host, device, N * sizeof(int), cudaMemcpyDeviceToHost, stream);
        cudaLaunchHostFunc(stream, arrived, &batches[b]);
    }
    cudaStreamSynchronize(stream);
    for (int b = 0; b < BATCHES; b++)
        cudaFreeHost(batches[b].host);
    cudaStreamDestroy(stream);
    cudaFree(device);
    return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
