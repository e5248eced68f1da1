// One stream makes numbers, another one adds them up. An event keeps them in order.
//
//     heddle check two_streams.cu                   correct
//     heddle check two_streams.cu -D WITHOUT_EVENT  the second stream does not wait

#include <cstdio>

enum { N = 1000 };

__global__ void make(int *numbers)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        numbers[i] = i;
}

__global__ void add_up(const int *numbers, int *sum)
{
    int total = 0;
    for (int i = 0; i < N; i++)
        total += numbers[i];
    *sum = total;
}

int main(void)
{
    int *numbers, *sum, host_sum = 0;
    cudaStream_t first, second;
    cudaEvent_t made;
    cudaMalloc(&numbers, N * sizeof(int));
    cudaMalloc(&sum, sizeof(int));
    cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&made, cudaEventDisableTiming);

    make<<<(N + 255) / 256, 256, 0, first>>>(numbers);
    cudaEventRecord(made, first); // a marker behind `make`
#ifndef WITHOUT_EVENT
    cudaStreamWaitEvent(second, made, 0); // what `second` gets from now on waits for the marker
#endif
    add_up<<<1, 1, 0, second>>>(numbers, sum);
    cudaMemcpyAsync(&host_sum, sum, sizeof(int), cudaMemcpyDeviceToHost, second);
    cudaStreamSynchronize(second);
    printf("sum %d\n", host_sum);

    cudaDeviceSynchronize();
    cudaEventDestroy(made);
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
    cudaFree(numbers);
    cudaFree(sum);
    return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
