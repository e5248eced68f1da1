// Host code uses __managed__ variables that a kernel in a stream may not have finished with: it reads what the kernel
// sets, sets what the kernel reads, and counts on where the kernel counts, with no wait in between or the wrong one.
#include "../corpus.h"

enum { COUNT = 64 };

struct pair {
    int low, high;
};

__managed__ float results[COUNT];
__managed__ int factor = 2;
__managed__ int counter, total;
__managed__ pair both;

__global__ void fill()
{
    results[threadIdx.x] = (float)threadIdx.x;
}

__global__ void scale(float *output)
{
    output[threadIdx.x] *= factor;
}

__global__ void count()
{
    atomicAdd(&counter, 1);
}

__global__ void store()
{
    if (threadIdx.x == 0)
        total = 5;
}

__global__ void set_both()
{
    both = {1, 2};
}

static void use(float *output)
{
    fill<<<1, COUNT>>>();       // expect: missing-wait a
    printf("%g\n", results[5]); // expect: missing-wait a
    SHOW(cudaDeviceSynchronize());
    scale<<<1, COUNT>>>(output); // expect: missing-wait b
    factor = 3;                  // expect: missing-wait b
    SHOW(cudaDeviceSynchronize());
    count<<<2, 32>>>(); // expect: missing-wait c+
    counter++;          // expect: missing-wait c+
    SHOW(cudaDeviceSynchronize());
    store<<<1, 32>>>(); // expect: missing-wait d+
    total++;            // expect: missing-wait d+
    SHOW(cudaDeviceSynchronize());
    set_both<<<1, 1>>>();   // expect: missing-wait e
    const pair seen = both; // expect: missing-wait e
    SHOW(cudaDeviceSynchronize());
    printf("%d\n", seen.low);
}

// The event comes before the kernel, and the stream that is waited for is not the kernel's.
static void wait_for_something_else(cudaStream_t one, cudaStream_t other)
{
    cudaEvent_t early;
    SHOW(cudaEventCreate(&early));
    SHOW(cudaEventRecord(early, one));
    fill<<<1, COUNT, 0, one>>>(); // expect: missing-wait f
    SHOW(cudaEventSynchronize(early));
    SHOW(cudaStreamSynchronize(other));
    results[7] = 0; // expect: missing-wait f
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaEventDestroy(early));
}

static void copy_into_one(const float *output, cudaStream_t stream)
{
    SHOW(cudaMemcpyAsync(results, output, sizeof results, cudaMemcpyDeviceToDevice, stream)); // expect: missing-wait g
    printf("%g\n", results[0]);                                                               // expect: missing-wait g
    SHOW(cudaStreamSynchronize(stream));
}

int main()
{
    float *output = device_zeros<float>(COUNT);
    cudaStream_t one, other;
    SHOW(cudaStreamCreate(&one));
    SHOW(cudaStreamCreate(&other));
    use(output);
    wait_for_something_else(one, other);
    copy_into_one(output, one);
    SHOW(cudaStreamDestroy(one));
    SHOW(cudaStreamDestroy(other));
    SHOW(cudaFree(output));
    return 0;
}
