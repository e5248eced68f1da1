// A long kernel fills the GPU; a short one follows in a stream of higher priority. On a real GPU the short one does not
// wait for the long one's remaining blocks: its time is printed with and without priority.
//
//     heddle check priority.cu                 results only: the simulator reports no timings
//     nvcc -arch=native priority.cu -o priority && ./priority 100000

#include <cstdio>
#include <cstdlib>

// Work that takes a while and cannot be optimised away.
__global__ void churn(float *out, int rounds)
{
    float x = threadIdx.x;
    for (int i = 0; i < rounds; i++)
        x = x * 0.999f + 1;
    out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

// Milliseconds from when `urgent` could start to its end, while `busy` works through many blocks.
static float time_of_urgent(int urgent_priority, int busy_priority, float *out, int busy_blocks, int rounds)
{
    cudaStream_t busy, urgent;
    cudaEvent_t begin, end;
    float milliseconds = 0;
    cudaStreamCreateWithPriority(&busy, cudaStreamNonBlocking, busy_priority);
    cudaStreamCreateWithPriority(&urgent, cudaStreamNonBlocking, urgent_priority);
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    churn<<<busy_blocks, 256, 0, busy>>>(out, rounds);
    cudaEventRecord(begin, urgent);
    churn<<<1, 256, 0, urgent>>>(out + 256 * busy_blocks, 1);
    cudaEventRecord(end, urgent);
    cudaDeviceSynchronize();
    cudaEventElapsedTime(&milliseconds, begin, end);
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    cudaStreamDestroy(busy);
    cudaStreamDestroy(urgent);
    return milliseconds;
}

int main(int count, char **arguments)
{
    int busy_blocks = count > 1 ? atoi(arguments[1]) : 8, rounds = count > 1 ? 10000 : 10;
    int lowest, highest;
    float *out;
    cudaDeviceGetStreamPriorityRange(&lowest, &highest);
    printf("priorities from %d (lowest) to %d (highest)\n", lowest, highest);
    cudaMalloc(&out, 256 * (busy_blocks + 1) * sizeof(float));
    time_of_urgent(lowest, lowest, out, busy_blocks, rounds); // warm-up
    float equal = time_of_urgent(lowest, lowest, out, busy_blocks, rounds);
    float higher = time_of_urgent(highest, lowest, out, busy_blocks, rounds);
    if (count > 1)
        printf("equal priority: %.3f ms, high priority: %.3f ms\n", equal, higher);
    cudaFree(out);
    return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
