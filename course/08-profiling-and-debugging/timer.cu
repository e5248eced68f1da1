// Times a kernel in four ways, of which the first two mislead.
//
//     heddle check timer.cu                            results only: the simulator reports no timings
//     nvcc -arch=native timer.cu -o timer && ./timer 26     2 to the 26th elements, on a GPU

#include <chrono>
#include <cstdio>
#include <cstdlib>

__global__ void scale(float *data, size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] *= 1.0001f;
}

static void launch(float *data, size_t n)
{
    scale<<<(unsigned)((n + 255) / 256), 256>>>(data, n);
}

static double host_microseconds(void)
{
    using namespace std::chrono;
    return duration<double, std::micro>(steady_clock::now().time_since_epoch()).count();
}

// The clock of the host around a launch; `wait` makes it stop only when the kernel is done.
static double time_by_host(float *data, size_t n, bool wait)
{
    cudaDeviceSynchronize(); // nothing else is under way
    double begin = host_microseconds();
    launch(data, n);
    if (wait)
        cudaDeviceSynchronize();
    return host_microseconds() - begin;
}

// Events in the stream, around many launches: the GPU's own clock, and no host in between.
static double time_by_events(float *data, size_t n, int launches)
{
    cudaEvent_t begin, end;
    float milliseconds = 0;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    cudaEventRecord(begin);
    for (int i = 0; i < launches; i++)
        launch(data, n);
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    cudaEventElapsedTime(&milliseconds, begin, end);
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    return 1e3 * milliseconds / launches;
}

int main(int count, char **arguments)
{
    size_t n = (size_t)1 << (count > 1 ? atoi(arguments[1]) : 12);
    float *data;
    cudaMalloc(&data, n * sizeof(float));
    cudaMemset(data, 0, n * sizeof(float));
    double first = time_by_host(data, n, true); // includes loading the kernel's code
    double queued = time_by_host(data, n, false);
    double waited = time_by_host(data, n, true);
    double events = time_by_events(data, n, 100);
    cudaFree(data);
    if (count > 1) {
        printf("first launch, waited for     %9.1f us\n", first);
        printf("not waited for               %9.1f us\n", queued);
        printf("waited for                   %9.1f us\n", waited);
        printf("events, mean of 100 launches %9.1f us, %.0f GB/s\n", events, 2e-3 * n * sizeof(float) / events);
    }
    return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
