// Work of a blocking stream, of the default stream and of a non-blocking stream. The default stream waits for the first
// and not for the last.

#include <cstdio>

__global__ void set(int *value, int number)
{
    *value = number;
}

__global__ void copy(const int *from, int *to)
{
    *to = *from;
}

int main(void)
{
    int *value, *seen;
    cudaStream_t stream;
    cudaMalloc(&value, sizeof(int));
    cudaMalloc(&seen, sizeof(int));
#ifdef NON_BLOCKING
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
#else
    cudaStreamCreate(&stream); // a blocking stream
#endif
    set<<<1, 1, 0, stream>>>(value, 7);
    copy<<<1, 1>>>(value, seen); // on the default stream
    int host_seen;
    cudaMemcpy(&host_seen, seen, sizeof(int), cudaMemcpyDeviceToHost);
    printf("seen %d\n", host_seen);
    cudaDeviceSynchronize();
    cudaStreamDestroy(stream);
    cudaFree(value);
    cudaFree(seen);
    return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
